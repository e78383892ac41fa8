/// The state of a peripheral: the radio, the registration and the advertising.
public struct PeripheralState: Hashable, Sendable {
    /// The state of the Bluetooth radio.
    ///
    /// The cases have the same names as the cases of `CBManagerState` in CoreBluetooth.
    public enum Radio: Hashable, Sendable {
        /// The state of the radio is not known yet.
        case unknown
        /// The Bluetooth stack is not running, or does not respond.
        ///
        /// The state of the radio changes when the Bluetooth stack is available again.
        case resetting
        /// No adapter supports the peripheral role, or the chosen adapter is missing.
        case unsupported
        /// The program is not allowed to use the Bluetooth stack.
        case unauthorized
        /// The adapter is powered off, or blocked by the rfkill subsystem of Linux.
        case poweredOff
        /// The adapter is powered on.
        case poweredOn
    }

    /// The state of the Bluetooth radio.
    public var radio: Radio

    /// Whether the services are registered with the Bluetooth stack.
    ///
    /// If the value is `true`, connected centrals can use the services.
    public var isRegistered: Bool

    /// Whether the adapter sends all advertisements of the program.
    ///
    /// A program can declare that an advertisement pauses while a central is connected. When an advertisement
    /// pauses because of a connected central, the value of the property does not change. If the Bluetooth
    /// stack refuses one of several advertisements, the adapter sends the other advertisements. ``reason``
    /// explains why the Bluetooth stack refused an advertisement.
    ///
    /// The property is `false` after ``PeripheralSession/stopAdvertising()``, or after all advertisements
    /// have timed out. The session does not report a failure when the program stops an advertisement or when
    /// an advertisement times out.
    public var isAdvertising: Bool

    /// The reason why the peripheral is not published, or why an advertisement is not sent.
    ///
    /// The text includes instructions for solving the problem. The property is `nil` if there is no failure.
    public var reason: String?

    /// Creates a state for use in backends.
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
    /// A text such as `poweredOn, registered, advertising`, and the reason for a failure.
    public var description: String {
        var parts = ["\(radio)"]
        if isRegistered { parts.append("registered") }
        if isAdvertising { parts.append("advertising") }
        let state = parts.joined(separator: ", ")
        return reason.map { "\(state) (\($0))" } ?? state
    }
}
