public import PeripheralTesting

extension EmulatedBlueZ {
    /// The configuration of an ``EmulatedBlueZ``.
    public struct Configuration: Sendable {
        /// The version of bluetoothd to imitate.
        ///
        /// The differences between 5.66, 5.82 and 5.87 were recorded on the real daemons. The recordings
        /// cover the behavior that a peripheral and its centrals observe. The versions between these three
        /// follow the history of BlueZ. Properties and signals that no peripheral needs are missing.
        public var version: BlueZVersion

        /// The adapters, in the order in which bluetoothd lists them; the list may be empty.
        public var adapters: [EmulatedAdapter]

        /// The name of the adapters, which centrals read as the device name.
        public var deviceName: String

        /// Whether bluetoothd asks the program when a bonded central pairs again by Just Works.
        ///
        /// `true` corresponds to `JustWorksRepairing = confirm` in bluetoothd's main.conf. `false`
        /// corresponds to the default of this setting, `never`: bluetoothd refuses to pair again.
        public var asksBeforeRepairing: Bool

        /// The clock that measures bluetoothd's time limits.
        ///
        /// These limits are:
        ///
        /// - 5 seconds for an answer to a central
        /// - 25 seconds for the objects of an application
        /// - 30 seconds for a disconnected device, for a pairing and for a confirmation
        /// - the `Timeout` of an advertisement
        ///
        /// With a manual clock, a test reaches these limits immediately.
        public var clock: any Clock<Duration>

        /// Whether bluetoothd is always busy, so refused services stay in its database.
        package var isBusy = false

        /// Creates a configuration.
        ///
        /// - Parameters:
        ///   - version: The version of bluetoothd to imitate.
        ///   - adapters: The adapters.
        ///   - deviceName: The name of the adapters. With `nil`, the name is `BlueZ` followed by the version.
        ///   - asksBeforeRepairing: Whether bluetoothd asks the program when a bonded central pairs again by
        ///     Just Works.
        ///   - clock: The clock that measures bluetoothd's time limits.
        public init(
            version: BlueZVersion = .v5_66,
            adapters: [EmulatedAdapter] = [EmulatedAdapter()],
            deviceName: String? = nil,
            asksBeforeRepairing: Bool = false,
            clock: any Clock<Duration> = ContinuousClock()
        ) {
            self.version = version
            self.adapters = adapters
            self.deviceName = deviceName ?? "BlueZ \(version)"
            self.asksBeforeRepairing = asksBeforeRepairing
            self.clock = clock
        }
    }
}
