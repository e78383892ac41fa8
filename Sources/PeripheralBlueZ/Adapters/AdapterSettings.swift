/// The adapter settings that a peripheral requires.
///
/// The backend applies the settings before it registers the services. The settings stay in effect after the
/// run ends. If a setting is `nil`, the backend leaves the adapter's value unchanged.
public struct AdapterSettings: Hashable, Sendable {
    /// The Bluetooth name of the adapter.
    ///
    /// All programs share the name of the adapter. Centrals read the name of the adapter from the Generic
    /// Access service.
    public var alias: String?

    /// Whether the backend powers on the adapter at the start of a run.
    ///
    /// If the adapter is powered off during the run, the framework does not power on the adapter again.
    public var powersOn: Bool

    /// Whether the adapter accepts new bonds.
    ///
    /// If the peripheral allows pairing, the framework makes the adapter pairable automatically.
    ///
    /// bluetoothd makes the adapter pairable when a program registers any pairing agent, including an agent
    /// that refuses pairing. Every peripheral registers a pairing agent, except with `Pairing.system`. To
    /// keep the value `false` in effect, use `Pairing.system`, or set `AlwaysPairable` in bluetoothd's
    /// configuration.
    public var isPairable: Bool?

    /// Creates settings.
    public init(alias: String? = nil, powersOn: Bool = false, isPairable: Bool? = nil) {
        self.alias = alias
        self.powersOn = powersOn
        self.isPairable = isPairable
    }
}
