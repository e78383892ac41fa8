/// The reason why an attempt to pair has made no bond.
public enum PairingFailure: Hashable, Sendable {
    /// No pairing window is open.
    ///
    /// See ``Pairing/onlyWhenAllowed(disconnectingUnbonded:)``.
    case notAllowed
    /// The maximum number of bonds is reached.
    ///
    /// See ``Pairing/limitingBonds(to:replacingOldest:)``.
    case tooManyBonds
    /// The central wants to pair by a method that the peripheral does not declare.
    ///
    /// The attempt of a bonded central to pair again by ``Pairing/justWorks`` has this reason too.
    case undeclaredMethod
    /// The handler has refused, or has thrown an error.
    case refused
    /// The handler has not answered within 30 seconds.
    case unanswered
    /// The central or the Bluetooth stack has ended the attempt before the handler has answered.
    case cancelled
    /// The connection has ended before the central has bonded.
    case disconnected
    /// The central has not bonded within 30 seconds after the last answer of a handler.
    ///
    /// For example, a person has entered a wrong passkey, or the central has paired without keeping the keys.
    case notBonded
}

extension PairingFailure: CustomStringConvertible {
    /// The reason in words, such as `no pairing window is open`.
    public var description: String {
        switch self {
        case .notAllowed: "no pairing window is open"
        case .tooManyBonds: "the maximum number of bonds is reached"
        case .undeclaredMethod: "the method is not declared"
        case .refused: "the handler has refused"
        case .unanswered: "the handler has not answered in time"
        case .cancelled: "the attempt was cancelled"
        case .disconnected: "the connection has ended"
        case .notBonded: "the central has not bonded"
        }
    }
}
