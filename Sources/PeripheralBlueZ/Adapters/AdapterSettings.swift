/// The settings that a peripheral requires of its adapter.
///
/// They are applied before the services are registered, and stay after the run. A setting that is `nil`
/// leaves the adapter as it is.
public struct AdapterSettings: Hashable, Sendable {
    /// The name of the adapter for all programs, which centrals read from the Generic Access service.
    public var alias: String?

    /// Whether to power on the adapter if it is off at the start.
    ///
    /// An adapter that is powered off later stays off until someone powers it on.
    public var powersOn: Bool

    /// Whether the adapter accepts new bonds.
    ///
    /// If the peripheral lets centrals pair, the framework sets this automatically.
    ///
    /// bluetoothd makes the adapter pairable for every agent, including the agent with which a peripheral
    /// refuses to pair. So `false` lasts only with `Pairing.system`, unless `AlwaysPairable` is set in
    /// bluetoothd's configuration.
    public var isPairable: Bool?

    /// Creates settings.
    public init(alias: String? = nil, powersOn: Bool = false, isPairable: Bool? = nil) {
        self.alias = alias
        self.powersOn = powersOn
        self.isPairable = isPairable
    }
}
