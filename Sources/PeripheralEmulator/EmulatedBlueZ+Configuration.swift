public import PeripheralTesting

extension EmulatedBlueZ {
    /// What an ``EmulatedBlueZ`` looks like.
    public struct Configuration: Sendable {
        /// The version of bluetoothd that is imitated; there is one yet.
        public let version: BlueZVersion = .v5_66

        /// The adapters, in the order in which bluetoothd lists them; none is possible.
        public var adapters: [EmulatedAdapter]

        /// The name of the adapters, which centrals read as the device name.
        public var deviceName: String

        /// What measures bluetoothd's time limits: 5 seconds for an answer to a central, 25 for the objects of an
        /// application, 30 for a device that is gone, and the `Timeout` of an advertisement.
        ///
        /// A manual clock reaches them at once.
        public var clock: any Clock<Duration>

        /// Describes a bluetoothd.
        ///
        /// - Parameters:
        ///   - adapters: The adapters.
        ///   - deviceName: The name of the adapters; `nil` for `BlueZ` and the version.
        ///   - clock: What measures bluetoothd's time limits.
        public init(
            adapters: [EmulatedAdapter] = [EmulatedAdapter()],
            deviceName: String? = nil,
            clock: any Clock<Duration> = ContinuousClock()
        ) {
            self.adapters = adapters
            self.deviceName = deviceName ?? "BlueZ \(BlueZVersion.v5_66)"
            self.clock = clock
        }
    }
}
