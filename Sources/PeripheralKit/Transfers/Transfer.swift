internal import PeripheralCore

extension TransmitQueues {
    /// A document that is being sent to its recipients.
    struct Transfer {
        let ticket: Ticket
        let document: Document
        /// The index of the characteristic among those that can be updated.
        let outlet: Int
        let recipients: DocumentRecipients
        /// Whether the transfer continues for later subscribers after all present subscribers have the
        /// document.
        let isStanding: Bool
        /// The progress in each lane that the transfer uses.
        var parts: [Part] = []
        /// The failures in the order in which they occurred.
        ///
        /// `nil` is for all receivers together.
        private var failures: [(receiver: Receiver, error: PeripheralError)] = []

        init(
            _ ticket: Ticket,
            _ document: Document,
            outlet: Int,
            to recipients: DocumentRecipients,
            isStanding: Bool
        ) {
            (self.ticket, self.document, self.outlet) = (ticket, document, outlet)
            (self.recipients, self.isStanding) = (recipients, isStanding)
        }

        /// The first failure that a later success has not cleared.
        var failure: PeripheralError? { failures.first?.error }

        mutating func fail(_ receiver: Receiver, _ error: PeripheralError) {
            guard !failures.contains(where: { $0.receiver == receiver }) else { return }
            failures.append((receiver, error))
        }

        mutating func clearFailure(_ receiver: Receiver) {
            failures.removeAll { $0.receiver == receiver }
        }

        subscript(_ lane: Place) -> Part? {
            get { parts.first { $0.lane == lane } }
            set {
                parts.removeAll { $0.lane == lane }
                if let newValue { parts.append(newValue) }
            }
        }
    }

    /// The progress of a document in a lane.
    struct Part {
        let lane: Place
        var sent = 0
        var inFlight = 0
        /// Whether the last chunk has been handed to the stack.
        var isHandedOn = false
        /// Whether a receiver that missed the beginning has joined.
        var isToBeRepeated = false
        /// Whether the document begins with an end marker that has not completed.
        ///
        /// That marker ends a part of another document.
        var isEndingRest = false
        /// Whether some receivers have not confirmed the last chunk.
        var lacksConfirmation = false

        var hasBegun: Bool { sent > 0 || inFlight > 0 || isHandedOn }
        var isDone: Bool { isHandedOn && inFlight == 0 }
    }
}
