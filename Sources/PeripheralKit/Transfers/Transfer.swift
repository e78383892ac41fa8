internal import PeripheralCore

/// A document that is being sent to its recipients.
struct Transfer {
    let ticket: TransmitQueues.Ticket
    let document: Document
    /// The index of the characteristic among those that can be updated.
    let characteristicIndex: Int
    let recipients: UpdateRecipients
    /// Whether the transfer continues for later subscribers after all present subscribers have the document.
    let isStanding: Bool
    /// The progress in each queue that the transfer uses.
    var parts: [Part] = []
    /// The failures in the order in which they occurred.
    ///
    /// `nil` is for all subscribers together.
    private var failures: [(subscriber: TransmitQueues.SubscriberID, error: PeripheralError)] = []

    init(
        _ ticket: TransmitQueues.Ticket,
        _ document: Document,
        characteristicIndex: Int,
        to recipients: UpdateRecipients,
        isStanding: Bool
    ) {
        (self.ticket, self.document, self.characteristicIndex) = (ticket, document, characteristicIndex)
        (self.recipients, self.isStanding) = (recipients, isStanding)
    }

    /// The first failure that a later success has not cleared.
    var failure: PeripheralError? { failures.first?.error }

    mutating func fail(_ subscriber: TransmitQueues.SubscriberID, _ error: PeripheralError) {
        guard !failures.contains(where: { $0.subscriber == subscriber }) else { return }
        failures.append((subscriber, error))
    }

    mutating func clearFailure(_ subscriber: TransmitQueues.SubscriberID) {
        failures.removeAll { $0.subscriber == subscriber }
    }

    subscript(_ queue: SubscriberQueue.ID) -> Part? {
        get { parts.first { $0.queue == queue } }
        set {
            parts.removeAll { $0.queue == queue }
            if let newValue { parts.append(newValue) }
        }
    }

    /// The progress of a document in a queue.
    struct Part {
        let queue: SubscriberQueue.ID
        var sent = 0
        var inFlight = 0
        /// Whether the last chunk has been submitted.
        var isSubmitted = false
        /// Whether a subscriber that missed the beginning has joined.
        var isToBeRepeated = false
        /// Whether the document begins with an end marker that has not completed.
        ///
        /// That marker ends a part of another document.
        var isEndingRest = false
        /// Whether some subscribers have not confirmed the last chunk.
        var lacksConfirmation = false

        var hasBegun: Bool { sent > 0 || inFlight > 0 || isSubmitted }
        var isDone: Bool { isSubmitted && inFlight == 0 }
    }
}
