internal import PeripheralCore

/// The numbers of packets and bytes that an adapter has sent and received, as its driver counts them.
///
/// The numbers sometimes start again from 0.
package struct LinkCounters: Equatable, Sendable {
    /// The data packets of connections that the controller has received from the kernel.
    package var packetsSent: UInt32
    /// The data packets of connections that the controller has passed to the kernel.
    package var packetsReceived: UInt32
    /// The commands that the controller has received from the kernel.
    package var commandsSent: UInt32
    /// The bytes that the controller has received, with the headers of packets and commands.
    package var bytesSent: UInt32

    package init(
        packetsSent: UInt32 = 0,
        packetsReceived: UInt32 = 0,
        commandsSent: UInt32 = 0,
        bytesSent: UInt32 = 0
    ) {
        self.packetsSent = packetsSent
        self.packetsReceived = packetsReceived
        self.commandsSent = commandsSent
        self.bytesSent = bytesSent
    }
}

/// `struct hci_dev_info`, which the kernel fills, on a little-endian machine.
struct HCIDeviceInformation {
    private static let size = 92
    /// The offset of `features`.
    private static let features = 21
    /// The offset of `acl_pkts`.
    static let packetRoom = 46
    /// The feature "BR/EDR Not Supported" (Core Specification, Vol 2, Part C, 3.3).
    private static let withoutClassic: UInt8 = 0x20
    /// The offsets of the numbers in `struct hci_dev_stats`.
    private static let (commandsSent, packetsSent, packetsReceived, bytesSent) = (60, 68, 72, 88)

    var bytes: [UInt8]

    init(adapter: UInt16) {
        bytes = adapter.gattBytes + [UInt8](repeating: 0, count: Self.size - 2)
    }

    var counters: LinkCounters {
        LinkCounters(
            packetsSent: number(at: Self.packetsSent),
            packetsReceived: number(at: Self.packetsReceived),
            commandsSent: number(at: Self.commandsSent),
            bytesSent: number(at: Self.bytesSent)
        )
    }

    /// The number of packets that the controller has room for (`acl_pkts`); `nil` if it is unknown.
    ///
    /// If the controller supports Bluetooth Classic, the kernel only reports the room for packets of
    /// Bluetooth Classic (`hci_get_dev_info` in net/bluetooth/hci_core.c).
    var packetRoom: Int? {
        guard !supportsClassic else { return nil }
        let room = Int(bytes[Self.packetRoom]) | Int(bytes[Self.packetRoom + 1]) << 8
        return room > 0 ? room : nil
    }

    var supportsClassic: Bool { bytes[Self.features + 4] & Self.withoutClassic == 0 }

    private func number(at offset: Int) -> UInt32 {
        bytes[offset..<offset + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
}
