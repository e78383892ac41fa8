/// The way to pair, which determines the input and output abilities sent to centrals.
public enum PairingMethod: Hashable, Sendable {
    /// No central can pair.
    case none
    /// No display and no keys.
    case justWorks
    /// A display: the device shows a passkey.
    case displayPasskey
    /// A keyboard: a passkey is typed on the device.
    case enterPasskey
    /// A display, and one key each for yes and no.
    case confirmNumber
    /// The system decides. The backend does not handle pairing.
    case system
}

/// A question that a Bluetooth stack asks before a central is paired.
public struct BackendPairingRequest: Hashable, Sendable {
    /// The central that pairs.
    public var central: Central

    /// The question.
    public var question: BackendPairingQuestion

    /// Creates a request.
    public init(central: Central, question: BackendPairingQuestion) {
        self.central = central
        self.question = question
    }
}

/// A question that a Bluetooth stack asks while a central pairs.
public enum BackendPairingQuestion: Hashable, Sendable {
    /// Asks whether the central can pair without a number (Just Works).
    case authorize
    /// Asks to show this passkey.
    case displayPasskey(UInt32)
    /// Asks for the passkey that the central shows.
    case enterPasskey
    /// Asks whether the central shows this number.
    case confirmNumber(UInt32)
}

/// The answer to a ``BackendPairingQuestion``.
public enum BackendPairingAnswer: Hashable, Sendable {
    /// Yes, or done.
    case accept
    /// The passkey that was typed, 0 to 999,999.
    case passkey(UInt32)
    /// No; the pairing fails.
    case reject
}
