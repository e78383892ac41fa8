/// What a peripheral demands of its adapter; it is set before the services are registered, and left so.
///
/// What is not demanded stays as it is.
public struct AdapterSettings: Hashable, Sendable {
    /// The name that centrals read from the Generic Access service, and that of the adapter for all programs.
    public var alias: String?

    /// Whether the adapter is powered on when it is off at the start.
    ///
    /// An adapter that somebody powers off later stays off until somebody powers it on.
    public var powersOn: Bool

    /// Whether the adapter takes new bonds.
    ///
    /// Where centrals may pair, the framework sees to it by itself. bluetoothd makes the adapter pairable for every agent,
    /// also for the one by which a peripheral refuses, unless `AlwaysPairable` is set in its configuration: without that,
    /// `false` lasts with `Pairing.system` only.
    public var isPairable: Bool?

    /// Makes demands.
    public init(alias: String? = nil, powersOn: Bool = false, isPairable: Bool? = nil) {
        self.alias = alias
        self.powersOn = powersOn
        self.isPairable = isPairable
    }
}
