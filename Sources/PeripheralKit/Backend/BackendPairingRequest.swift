/// The way to pair, which determines the input and output capabilities that centrals receive.
public enum PairingMethod: Hashable, Sendable {
    /// No central can pair.
    case none
    /// Pairing with Just Works: the device has no display and no keys.
    case justWorks
    /// Pairing with a display: the device shows a passkey.
    case displayPasskey
    /// Pairing with a keyboard: a person types a passkey on the device.
    case enterPasskey
    /// Pairing with a display, a key for yes and a key for no: a person compares numbers.
    case confirmNumber
    /// The system decides how to pair, and the backend does not handle pairing.
    case system
}

/// A question about a central that a Bluetooth stack asks before the central is paired.
public struct BackendPairingRequest: Hashable, Sendable {
    /// The central that pairs.
    public var central: Central

    /// The question of the Bluetooth stack.
    public var question: BackendPairingQuestion

    /// Creates a request.
    public init(central: Central, question: BackendPairingQuestion) {
        self.central = central
        self.question = question
    }
}

/// A question that a Bluetooth stack asks while a central pairs.
public enum BackendPairingQuestion: Hashable, Sendable {
    /// Asks whether the central can pair without a number, by Just Works.
    case authorize
    /// Asks the program to show this passkey.
    case displayPasskey(UInt32)
    /// Asks for the passkey that the central shows.
    case enterPasskey
    /// Asks whether the central shows this number.
    case confirmNumber(UInt32)
}

/// The answer to a ``BackendPairingQuestion``.
public enum BackendPairingAnswer: Hashable, Sendable {
    /// The answer "yes", or a confirmation that the request is done.
    case accept
    /// The passkey that a person has typed, 0 to 999,999.
    case passkey(UInt32)
    /// The answer "no": the pairing fails.
    case reject
}
