/// How a peripheral pairs, and so what it tells centrals of its display and its keys.
public enum PairingMethod: Hashable, Sendable {
    /// Nobody may pair.
    case none
    /// No display and no keys.
    case justWorks
    /// A display: the device shows a passkey.
    case displayPasskey
    /// A keyboard: a passkey is typed on the device.
    case enterPasskey
    /// A display, and a key for yes and one for no.
    case confirmNumber
    /// The system's own way; the backend leaves pairing alone.
    case system
}

/// What a Bluetooth stack wants to know before a central is paired.
public struct PairingRequest: Hashable, Sendable {
    /// Who pairs.
    public var central: Central

    /// What the stack wants to know.
    public var question: PairingQuestion

    /// Makes a request.
    public init(central: Central, question: PairingQuestion) {
        self.central = central
        self.question = question
    }
}

/// A question that comes up while a central pairs.
public enum PairingQuestion: Hashable, Sendable {
    /// Whether the central may pair, without a number (Just Works).
    case authorize
    /// Demands that this passkey be shown.
    case displayPasskey(UInt32)
    /// Which passkey the central shows.
    case enterPasskey
    /// Whether the central shows this number.
    case confirmNumber(UInt32)
}

/// The answer to a ``PairingQuestion``.
public enum PairingAnswer: Hashable, Sendable {
    /// Yes, or done.
    case accept
    /// The passkey that was typed, 0 to 999,999.
    case passkey(UInt32)
    /// No; the pairing fails.
    case reject
}
