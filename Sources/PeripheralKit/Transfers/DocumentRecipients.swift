internal import PeripheralCore

/// The recipients of a document.
enum DocumentRecipients: Equatable {
    /// All current subscribers, and the centrals that subscribe during the transfer.
    case subscribers
    /// Specific centrals, which must all receive the document.
    case centrals([Central.ID])

    static func central(_ central: Central.ID) -> DocumentRecipients { .centrals([central]) }

    /// Returns whether the document is explicitly for this central.
    func names(_ central: TransmitQueues.SubscriberID) -> Bool {
        guard case .centrals(let centrals) = self, let central else { return false }
        return centrals.contains(central)
    }
}
