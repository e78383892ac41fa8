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

        /// What measures bluetoothd's time limits: 5 seconds for an answer to a central, 25 for the objects of an
        /// application, 30 for a device that is gone, for a pairing and for a confirmation, and the `Timeout` of an
        /// advertisement.
        ///
        /// A manual clock reaches them at once.
        public var clock: any Clock<Duration>

        /// Describes a bluetoothd.
        ///
        /// - Parameters:
        ///   - version: The version that is imitated.
        ///   - adapters: The adapters.
        ///   - deviceName: The name of the adapters; `nil` for `BlueZ` and the version.
        ///   - clock: What measures bluetoothd's time limits.
        public init(
            version: BlueZVersion = .v5_66,
            adapters: [EmulatedAdapter] = [EmulatedAdapter()],
            deviceName: String? = nil,
            clock: any Clock<Duration> = ContinuousClock()
        ) {
            self.version = version
            self.adapters = adapters
            self.deviceName = deviceName ?? "BlueZ \(version)"
            self.clock = clock
        }
    }
}
