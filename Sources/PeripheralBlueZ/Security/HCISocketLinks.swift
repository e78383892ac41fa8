internal import Glibc
package import PeripheralCore
package import PeripheralDBus
package import PeripheralKit

/// Asks the kernel about connections.
///
/// The kernel answers any program that may open a Bluetooth socket. It reports whether a connection is
/// encrypted, but not how the keys were created. `HCI_LM_AUTH` is set with every encryption of an LE
/// connection. `HCI_LM_SECURE` and `HCI_LM_FIPS` are never set (observed on 6.1). The socket does not exist
/// in a container with a separate network, or if systemd denies this address family to a service.
package struct HCISocketLinks: KernelLinks {
    // These values are from <bluetooth/bluetooth.h> and <bluetooth/hci.h>. The headers belong to BlueZ's
    // library, not to the C library.
    private static let addressFamily: CInt = 31  // AF_BLUETOOTH
    private static let hciProtocol: CInt = 1  // BTPROTO_HCI
    private static let getDeviceInformation: CUnsignedLong = 0x8004_48D3  // HCIGETDEVINFO
    private static let getConnectionList: CUnsignedLong = 0x8004_48D4  // HCIGETCONNLIST

    /// The socket; `nil` if this program cannot open such a socket.
    private let socket: OwnedFileDescriptor?

    package init() {
        let kind = CInt(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = Glibc.socket(Self.addressFamily, kind, Self.hciProtocol)
        socket = descriptor < 0 ? nil : OwnedFileDescriptor(adopting: descriptor)
    }

    /// Whether the kernel answers this program.
    package var isAvailable: Bool { socket != nil }

    package func links(of adapter: ObjectPath) -> [LinkState]? {
        guard let socket, let number = Self.number(of: adapter) else { return nil }
        var list = HCIConnectionList(adapter: number)
        return Self.ask(Self.getConnectionList, &list.bytes, by: socket) ? list.links : nil
    }

    package func counters(of adapter: ObjectPath) -> LinkCounters? {
        information(about: adapter)?.counters
    }

    package func packetRoom(of adapter: ObjectPath) -> Int? {
        information(about: adapter)?.packetRoom
    }

    /// Returns the kernel's description of an adapter's controller; `nil` if it is not known.
    package func controller(of adapter: ObjectPath) -> ControllerDescription? {
        information(about: adapter)?.description
    }

    private func information(about adapter: ObjectPath) -> HCIDeviceInformation? {
        guard let socket, let number = Self.number(of: adapter) else { return nil }
        var information = HCIDeviceInformation(adapter: number)
        return Self.ask(Self.getDeviceInformation, &information.bytes, by: socket) ? information : nil
    }

    /// Requests an answer, which the kernel writes into the bytes.
    private static func ask(
        _ question: CUnsignedLong,
        _ answer: inout [UInt8],
        by socket: OwnedFileDescriptor
    ) -> Bool {
        unsafe answer.withUnsafeMutableBytes { bytes in
            guard let start = bytes.baseAddress else { return false }
            return unsafe ioctl(socket.descriptor, question, start) == 0
        }
    }

    package func watch(
        _ adapter: ObjectPath,
        on loop: EventLoop,
        _ handle: @escaping ([LinkObservation]) -> Void
    ) -> (any LinkWatch)? {
        Self.number(of: adapter).flatMap { LinkMonitor(adapter: $0, on: loop, handle) }
    }

    package func control(
        _ adapter: ObjectPath,
        on loop: EventLoop,
        _ handle: @escaping (LinkEvent) -> Void
    ) -> (any LinkControl)? {
        Self.number(of: adapter).flatMap { HCILinkControl(adapter: $0, on: loop, handle) }
    }

    package func listen(
        _ request: ListenerRequest,
        on loop: EventLoop,
        _ handle: @escaping (any BackendChannel, DeviceAddress) -> Void
    ) throws(ChannelListenerFailure) -> any ChannelListener {
        try L2CAPListenerSocket(request, on: loop, handle)
    }

    /// The number in the adapter's name, such as `hci0`.
    private static func number(of adapter: ObjectPath) -> UInt16? {
        guard let name = adapter.text.split(separator: "/").last, name.hasPrefix("hci") else { return nil }
        return UInt16(name.dropFirst(3))
    }
}

/// `struct hci_conn_list_req`, which the kernel fills, on a little-endian machine.
struct HCIConnectionList {
    /// A number of connections that is larger than any controller supports.
    private static let capacity = 128
    /// The total size of the adapter's number and the number of entries.
    private static let headerSize = 4
    /// The size of `struct hci_conn_info`.
    ///
    /// It contains handle, address, type, direction, state, and from byte 12 on the mode.
    private static let entrySize = 16
    private static let types: Set<UInt8> = [0x01, 0x80]  // ACL_LINK, LE_LINK
    private static let encrypted: UInt8 = 0x04  // HCI_LM_ENCRYPT

    var bytes: [UInt8]

    init(adapter: UInt16) {
        let padding = [UInt8](repeating: 0, count: Self.capacity * Self.entrySize)
        bytes = [adapter, UInt16(Self.capacity)].flatMap(\.gattBytes) + padding
    }

    /// The connections that may carry attributes; `nil` if there is no room for all connections.
    var links: [LinkState]? {
        let count = Int(bytes[2]) | Int(bytes[3]) << 8
        guard count < Self.capacity else { return nil }
        return (0..<count).compactMap { index in
            let entry = bytes.dropFirst(Self.headerSize + index * Self.entrySize).prefix(Self.entrySize)
            guard Self.types.contains(entry[entry.startIndex + 8]),
                let address = DeviceAddress(littleEndian: entry.dropFirst(2).prefix(6))
            else { return nil }
            return LinkState(
                address: address,
                isEncrypted: entry[entry.startIndex + 12] & Self.encrypted != 0,
                connection: UInt16(entry[entry.startIndex]) | UInt16(entry[entry.startIndex + 1]) << 8
            )
        }
    }
}
