/// Whether a peripheral is on the air, and if not, why.
public struct PeripheralState: Hashable, Sendable {
    /// What can be done with the Bluetooth radio; the names are those of CoreBluetooth's `CBManagerState`.
    public enum Radio: Hashable, Sendable {
        /// Not known yet.
        case unknown
        /// The Bluetooth stack is gone, has not come up yet, or does not answer; the state changes when it is there.
        case resetting
        /// There is no adapter that can be a peripheral, or not the one that was chosen.
        case unsupported
        /// This program may not use the Bluetooth stack.
        case unauthorized
        /// The adapter is powered off, or blocked by rfkill.
        case poweredOff
        /// The adapter is powered on.
        case poweredOn
    }

    /// What can be done with the radio.
    public var radio: Radio

    /// Whether the services are registered with the Bluetooth stack: centrals that are connected are served.
    public var isRegistered: Bool

    /// Whether all is on the air that is to be advertised.
    ///
    /// What is off the air while a central is connected, as declared, counts as advertised. Of several advertisements, those
    /// that the stack takes are on the air also while another is refused, which ``reason`` tells. After
    /// ``PeripheralSession/stopAdvertising()`` and when the time of all is over, nothing is advertised, and nothing amiss.
    public var isAdvertising: Bool

    /// Why the peripheral is not on the air, or not all that it advertises, with what to do about it; `nil` while nothing is amiss.
    public var reason: String?

    /// Makes a state, for backends.
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

    /// Registered and advertised.
    public var isOnTheAir: Bool { isRegistered && isAdvertising }
}

extension PeripheralState {
    /// Where a peripheral begins, and where it ends.
    static let initial = PeripheralState()
    static let onTheAir = PeripheralState(radio: .poweredOn, isRegistered: true, isAdvertising: true)
}

extension PeripheralState: CustomStringConvertible {
    /// Such as `poweredOn, registered, advertising`, followed by the reason.
    public var description: String {
        var parts = ["\(radio)"]
        if isRegistered { parts.append("registered") }
        if isAdvertising { parts.append("advertising") }
        let state = parts.joined(separator: ", ")
        return reason.map { "\(state) (\($0))" } ?? state
    }
}
