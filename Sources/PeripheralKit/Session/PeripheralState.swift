/// Whether a peripheral is on the air, and if not, the reason.
public struct PeripheralState: Hashable, Sendable {
    /// The state of the Bluetooth radio, with the names of CoreBluetooth's `CBManagerState`.
    public enum Radio: Hashable, Sendable {
        /// The state is not known yet.
        case unknown
        /// The Bluetooth stack is not running, or does not respond. The state changes when the stack is
        /// available again.
        case resetting
        /// No adapter can act as a peripheral, or the chosen adapter is missing.
        case unsupported
        /// The program is not allowed to use the Bluetooth stack.
        case unauthorized
        /// The adapter is powered off, or blocked by rfkill.
        case poweredOff
        /// The adapter is powered on.
        case poweredOn
    }

    /// The state of the radio.
    public var radio: Radio

    /// Whether the services are registered with the Bluetooth stack, so that connected centrals are served.
    public var isRegistered: Bool

    /// Whether all advertisements of the program are on the air.
    ///
    /// An advertisement that pauses while a central is connected, as declared, counts as advertised. If the
    /// stack refuses one of several advertisements, the other advertisements stay on the air. ``reason`` then
    /// explains the refusal.
    ///
    /// After ``PeripheralSession/stopAdvertising()``, or after the timeouts of all advertisements, the value
    /// is `false`. This is not a failure.
    public var isAdvertising: Bool

    /// The reason why the peripheral or an advertisement is not on the air.
    ///
    /// The text also explains how to solve the problem. It is `nil` without a failure.
    public var reason: String?

    /// Creates a state, for backends.
    public init(
        radio: Radio = .unknown,
        isRegistered: Bool = false,
        isAdvertising: Bool = false,
        reason: String? = nil
    ) {
        self.radio = radio
        self.isRegistered = isRegistered
        self.isAdvertising = isAdvertising
        self.reason = reason
    }

    /// Whether the peripheral is registered and advertised.
    public var isOnTheAir: Bool { isRegistered && isAdvertising }
}

extension PeripheralState {
    /// The state in which a peripheral begins and ends.
    static let initial = PeripheralState()
    static let onTheAir = PeripheralState(radio: .poweredOn, isRegistered: true, isAdvertising: true)
}

extension PeripheralState: CustomStringConvertible {
    /// A text such as `poweredOn, registered, advertising`, followed by the reason.
    public var description: String {
        var parts = ["\(radio)"]
        if isRegistered { parts.append("registered") }
        if isAdvertising { parts.append("advertising") }
        let state = parts.joined(separator: ", ")
        return reason.map { "\(state) (\($0))" } ?? state
    }
}
