package import PeripheralBlueZ
internal import PeripheralDBus

extension Machine {
    /// The facts that the kernel reports about the controller of an adapter.
    package struct Controller: Hashable, Sendable {
        /// The connection and the buffers of the controller, or `nil` without a Bluetooth socket.
        package var description: ControllerDescription?
        package var information = ManagementInformation.Answer.unavailable
        /// The identifier of the hardware, such as `usb:v0A5Cp21E8…`.
        package var hardware: String?

        package init() {}

        /// Asks the kernel about the controller of an adapter.
        init(of adapter: String, _ files: MachineFiles) {
            hardware = files.line("/sys/class/bluetooth/\(adapter)/device/modalias")
            guard adapter.hasPrefix("hci"), let number = UInt16(adapter.dropFirst(3)) else { return }
            information = ManagementInformation.ask(about: number)
            description = (try? ObjectPath("/org/bluez/\(adapter)")).flatMap(HCISocketLinks().controller)
        }
    }
}
