internal import PeripheralCore

extension TransmitQueues {
    /// A document on its way to whom it is for.
    struct Transfer {
        let ticket: Ticket
        let document: Document
        /// The characteristic, by its place among those that can be updated.
        let outlet: Int
        let recipients: DocumentRecipients
        /// Whether it waits for others to come when all have it who are there.
        let isStanding: Bool
        /// How far it has come, by the lanes that it takes.
        var parts: [Part] = []
        /// Why some do not have it, in the order in which that was found; `nil` stands for all together.
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

        /// The first failure of those that have not been made good.
        var failure: PeripheralError? { failures.first?.error }

        mutating func fail(_ receiver: Receiver, _ error: PeripheralError) {
            guard !failures.contains(where: { $0.receiver == receiver }) else { return }
            failures.append((receiver, error))
        }

        mutating func makeGood(_ receiver: Receiver) {
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

    /// How far a document has come in a lane.
    struct Part {
        let lane: Place
        var sent = 0
        var inFlight = 0
        /// Whether the last chunk has been handed on.
        var isHandedOn = false
        /// Whether somebody has come who has missed the beginning.
        var isToBeRepeated = false
        /// Whether it begins with the mark that ends a part of another, which has not left.
        var isEndingRest = false
        /// Whether the last chunk was not confirmed by all.
        var lacksConfirmation = false

        var hasBegun: Bool { sent > 0 || inFlight > 0 || isHandedOn }
        var isDone: Bool { isHandedOn && inFlight == 0 }
    }
}
