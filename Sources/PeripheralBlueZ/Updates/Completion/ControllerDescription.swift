/// The controller of an adapter as the kernel describes it to every program with a Bluetooth socket.
package struct ControllerDescription: Hashable, Sendable {
    /// The connection of the controller, such as `USB`.
    package var bus: String
    /// The number of packets of connections that the controller has room for.
    package var packets: Int
    /// The largest number of bytes in a packet.
    package var packetSize: Int
    /// Whether the numbers are those of Bluetooth Classic.
    ///
    /// The kernel does not report the buffers for LE if the controller supports Bluetooth Classic
    /// (`hci_get_dev_info` in net/bluetooth/hci_core.c).
    package var isClassic: Bool
}

extension HCIDeviceInformation {
    /// The names of `HCI_VIRTUAL` and the following numbers, which are in the low bits of `type`.
    private static let buses = [
        "virtual", "USB", "PC Card", "UART", "RS-232", "PCI", "SDIO", "SPI", "I2C", "SMD", "virtio",
    ]
    /// The offsets of `type` and `acl_mtu`.
    private static let (type, packetSize) = (20, 44)

    var description: ControllerDescription {
        let bus = Int(bytes[Self.type] & 0x0F)
        return ControllerDescription(
            bus: Self.buses.indices.contains(bus) ? Self.buses[bus] : "number \(bus)",
            packets: Int(bytes[Self.packetRoom]) | Int(bytes[Self.packetRoom + 1]) << 8,
            packetSize: Int(bytes[Self.packetSize]) | Int(bytes[Self.packetSize + 1]) << 8,
            isClassic: supportsClassic
        )
    }
}
