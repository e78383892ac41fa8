internal import PeripheralCore

/// Whom a document is for.
enum DocumentRecipients: Equatable {
    /// Whoever has subscribed, or does meanwhile.
    case subscribers
    /// These, each of which is not to be missed.
    case centrals([Central.ID])

    static func central(_ central: Central.ID) -> DocumentRecipients { .centrals([central]) }

    /// Whether it is for this central whatever happens.
    func names(_ central: TransmitQueues.Receiver) -> Bool {
        guard case .centrals(let centrals) = self, let central else { return false }
        return centrals.contains(central)
    }
}
