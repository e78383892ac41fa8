public import Logging
package import PeripheralBlueZ
public import PeripheralTesting

extension EmulatedBlueZ {
    /// The configuration of an ``EmulatedBlueZ``.
    public struct Configuration: Sendable {
        /// The version of bluetoothd to imitate.
        ///
        /// For versions 5.66, 5.82 and 5.87, the emulation is based on recordings of the real bluetoothd. The
        /// recordings cover the behavior that a peripheral and its centrals can observe. For the other
        /// versions from 5.66 to 5.87, the emulation is based on the change history of BlueZ. The emulation
        /// omits properties and signals that no peripheral needs. ``withEmulatedBlueZ(_:_:)`` throws an error
        /// for any other version.
        public var version: BlueZVersion

        /// The emulated adapters, in the order in which bluetoothd lists the adapters.
        ///
        /// The array can be empty.
        public var adapters: [EmulatedAdapter]

        /// The common name of all adapters.
        ///
        /// Centrals read this name as the device name.
        public var deviceName: String

        /// Whether bluetoothd asks the program when a bonded central pairs again with Just Works.
        ///
        /// The value `true` corresponds to the setting `JustWorksRepairing = confirm` in bluetoothd's
        /// `main.conf`. The value `false` corresponds to the default setting, `JustWorksRepairing = never`.
        /// With the default setting, bluetoothd refuses to pair again with a bonded central.
        public var asksBeforeRepairing: Bool

        /// The clock that measures bluetoothd's time limits.
        ///
        /// The clock measures these time limits:
        ///
        /// - 5 seconds for a program's answer to a request from a central
        /// - 25 seconds for a program's answer to `GetManagedObjects`
        /// - 30 seconds for pairing
        /// - 30 seconds for the confirmation of an indication
        /// - 30 seconds until bluetoothd forgets a disconnected central that is not bonded
        /// - the duration in the `Timeout` property of an advertisement
        ///
        /// With a manual clock, a test can simulate that a time limit expires.
        public var clock: any Clock<Duration>

        /// The log of what the emulated bluetoothd refuses without asking the program.
        ///
        /// The real bluetoothd does not log such a refusal. At warning level, the log explains why a written
        /// value is too long.
        public var logger: Logger

        /// Whether bluetoothd is always busy, so refused services stay in its database.
        package var isBusy = false

        /// The files of the emulated machine, such as bluetoothd's `main.conf`; `nil` if there are none.
        package var files: MachineFiles?

        /// Creates a configuration.
        ///
        /// - Parameters:
        ///   - version: The version of bluetoothd to imitate.
        ///   - adapters: The adapters.
        ///   - deviceName: The common name of all adapters. If `deviceName` is `nil`, the name consists of
        ///     `BlueZ` and the version.
        ///   - asksBeforeRepairing: Whether bluetoothd asks the program for permission when a bonded central
        ///     pairs again with Just Works.
        ///   - clock: The clock that measures bluetoothd's time limits.
        ///   - logger: The log of what the emulated bluetoothd refuses without asking the program.
        public init(
            version: BlueZVersion = .v5_66,
            adapters: [EmulatedAdapter] = [EmulatedAdapter()],
            deviceName: String? = nil,
            asksBeforeRepairing: Bool = false,
            clock: any Clock<Duration> = ContinuousClock(),
            logger: Logger = Logger(label: "bluetoothd")
        ) {
            self.version = version
            self.adapters = adapters
            self.deviceName = deviceName ?? "BlueZ \(version)"
            self.asksBeforeRepairing = asksBeforeRepairing
            self.clock = clock
            self.logger = logger
        }
    }
}
