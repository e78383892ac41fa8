internal import PeripheralCore

/// The recipients of a value or a document.
enum UpdateRecipients: Equatable {
    /// All current subscribers; for a document also the centrals that subscribe during the transfer.
    case subscribers
    case central(Central.ID)
    /// Specific centrals, which must all receive the value or the document.
    case centrals([Central.ID])

    init(_ recipients: BackendUpdate.Recipients) {
        self =
            switch recipients {
            case .subscribers: .subscribers
            case .central(let central): .central(central)
            }
    }

    /// Returns whether the update is explicitly for this central.
    func names(_ central: TransmitQueues.SubscriberID) -> Bool {
        switch self {
        case .subscribers: false
        case .central(let named): central == named
        case .centrals(let centrals): central.map(centrals.contains) ?? false
        }
    }
}
