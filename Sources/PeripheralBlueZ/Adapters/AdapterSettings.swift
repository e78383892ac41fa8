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
    /// If the peripheral declares a pairing method, the framework makes the adapter pairable while centrals
    /// may pair, and not pairable otherwise, regardless of this setting. After the run, the adapter is as it
    /// was before. With `Pairing.none` and `Pairing.system`, this setting stays in effect.
    public var isPairable: Bool?

    /// Creates settings.
    public init(alias: String? = nil, powersOn: Bool = false, isPairable: Bool? = nil) {
        self.alias = alias
        self.powersOn = powersOn
        self.isPairable = isPairable
    }
}
