public import PeripheralTesting

extension EmulatedBlueZ {
    /// What an ``EmulatedBlueZ`` looks like.
    public struct Configuration: Sendable {
        /// The version of bluetoothd that is imitated.
        ///
        /// What differs between 5.66, 5.82 and 5.87 for a peripheral and its centrals was recorded on the real
        /// daemons; a version between them behaves as BlueZ's history has it. Left out are properties and signals
        /// that no peripheral needs.
        public var version: BlueZVersion

        /// The adapters, in the order in which bluetoothd lists them; none is possible.
        public var adapters: [EmulatedAdapter]

        /// The name of the adapters, which centrals read as the device name.
        public var deviceName: String

        /// Whether bluetoothd asks the program when a bonded central pairs again by Just Works
        /// (`JustWorksRepairing = confirm` in its main.conf); without, it refuses (`never`, its default).
        public var asksBeforeRepairing: Bool

        /// What measures bluetoothd's time limits: 5 seconds for an answer to a central, 25 for the objects of an
        /// application, 30 for a device that is gone, for a pairing and for a confirmation, and the `Timeout` of an
        /// advertisement.
        ///
        /// A manual clock reaches them at once.
        public var clock: any Clock<Duration>

        /// Whether bluetoothd has always something else to do, so that what it has refused stays in the database.
        package var isBusy = false

        /// Describes a bluetoothd.
        ///
        /// - Parameters:
        ///   - version: The version that is imitated.
        ///   - adapters: The adapters.
        ///   - deviceName: The name of the adapters; `nil` for `BlueZ` and the version.
        ///   - asksBeforeRepairing: Whether bluetoothd asks when a bonded central pairs again by Just Works.
        ///   - clock: What measures bluetoothd's time limits.
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
