/// The settings that a peripheral requires of its adapter.
///
/// The backend applies the settings before it registers the services. The settings remain after the run. A
/// setting that is `nil` leaves the adapter unchanged.
public struct AdapterSettings: Hashable, Sendable {
    /// The name of the adapter, which all programs share and centrals read from the Generic Access service.
    public var alias: String?

    /// Whether to power on the adapter if it is off at the start.
    ///
    /// The framework does not power on an adapter that is powered off later.
    public var powersOn: Bool

    /// Whether the adapter accepts new bonds.
    ///
    /// If the peripheral lets centrals pair, the framework sets this property automatically.
    ///
    /// bluetoothd makes the adapter pairable for every agent. This includes the agent that a peripheral uses
    /// to refuse pairing. Therefore `false` remains in effect only with `Pairing.system`, unless bluetoothd's
    /// configuration sets `AlwaysPairable`.
    public var isPairable: Bool?

    /// Creates settings.
    public init(alias: String? = nil, powersOn: Bool = false, isPairable: Bool? = nil) {
        self.alias = alias
        self.powersOn = powersOn
        self.isPairable = isPairable
    }
}
