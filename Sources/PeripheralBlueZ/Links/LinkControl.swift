internal import Glibc
package import PeripheralDBus
package import PeripheralKit

/// The controller of an adapter, which reports events about its links.
///
/// The object belongs to an event loop.
package protocol LinkControl: AnyObject {
    /// Whether the controller still reports events.
    var isOpen: Bool { get }

    /// Handles the events that have arrived.
    func receive()

    /// Sends a command to the controller.
    ///
    /// - Throws: `PeripheralError` if the kernel does not accept the command.
    func send(_ command: LinkCommand) throws(PeripheralError)

    /// Stops receiving.
    func close()
}

/// The controller of an adapter through a raw socket of the kernel.
///
/// Each program that may open a Bluetooth socket receives the ends of links, and may measure the signal
/// strength: the kernel's lists of harmless events and commands (`hci_sec_filter` in
/// net/bluetooth/hci_sock.c) contain both. The parameters of links require `CAP_NET_RAW`.
package final class HCILinkControl: LinkControl {
    // These values are from <bluetooth/bluetooth.h> and <bluetooth/hci.h>. The headers belong to BlueZ's
    // library, not to the C library.
    private static let addressFamily: CInt = 31  // AF_BLUETOOTH
    private static let hciProtocol: CInt = 1  // BTPROTO_HCI
    private static let hciLevel: CInt = 0  // SOL_HCI
    private static let eventFilter: CInt = 2  // HCI_FILTER

    /// The longest packet that ``LinkEvent`` reads.
    private static let longestPacket = 64

    private var socket: OwnedFileDescriptor?
    private let handle: (LinkEvent) -> Void
    private var source: LoopSource?

    /// Begins to receive events; `nil` if the kernel does not allow this.
    convenience init?(adapter: UInt16, on loop: EventLoop, _ handle: @escaping (LinkEvent) -> Void) {
        guard let socket = Self.openSocket(for: adapter) else { return nil }
        self.init(socket, on: loop, handle)
    }

    /// Begins to receive events from a socket.
    package init(_ socket: OwnedFileDescriptor, on loop: EventLoop, _ handle: @escaping (LinkEvent) -> Void) {
        self.socket = socket
        self.handle = handle
        source = loop.watch(fileDescriptor: socket.descriptor, events: .readable) { [weak self] _ in
            self?.receive()
        }
    }

    private static func openSocket(for adapter: UInt16) -> OwnedFileDescriptor? {
        let kind = CInt(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = Glibc.socket(addressFamily, kind, hciProtocol)
        guard descriptor >= 0 else { return nil }
        let socket = OwnedFileDescriptor(adopting: descriptor)
        // Both filters come first, so no other packets arrive.
        guard SocketFilter.linkEvents.attach(to: socket), select(on: socket), bind(socket, to: adapter) else {
            return nil
        }
        return socket
    }

    /// Selects the kinds of events (`struct hci_ufilter`).
    private static func select(on socket: OwnedFileDescriptor) -> Bool {
        // Event packets; Disconnection Complete, Command Complete and Command Status; LE Meta event. Without
        // CAP_NET_RAW, the kernel removes the last.
        var filter: [UInt32] = [1 << 4, 1 << 5 | 1 << 14 | 1 << 15, 1 << 30, 0]
        let size = socklen_t(MemoryLayout<UInt32>.stride * filter.count)
        return unsafe setsockopt(socket.descriptor, hciLevel, eventFilter, &filter, size) == 0
    }

    private static func bind(_ socket: OwnedFileDescriptor, to adapter: UInt16) -> Bool {
        // `struct sockaddr_hci`: the family, the adapter, HCI_CHANNEL_RAW.
        let address: [UInt16] = [UInt16(addressFamily), adapter, 0]
        return unsafe address.withUnsafeBytes { bytes in
            guard let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else {
                return false
            }
            return unsafe Glibc.bind(socket.descriptor, start, socklen_t(bytes.count)) == 0
        }
    }

    package var isOpen: Bool { socket != nil }

    package func receive() {
        var buffer = [UInt8](repeating: 0, count: Self.longestPacket)
        while let socket {
            let count = unsafe recv(socket.descriptor, &buffer, buffer.count, 0)
            guard count > 0 else {
                // A broken socket would wake the loop forever. A removed adapter breaks its sockets.
                if count == 0 || ![EAGAIN, EINTR].contains(errno) { close() }
                return
            }
            if let event = LinkEvent(buffer[..<count]) { handle(event) }
        }
    }

    package func send(_ command: LinkCommand) throws(PeripheralError) {
        let packet = command.packet
        let descriptor = socket?.descriptor ?? -1
        let count = unsafe Glibc.send(descriptor, packet, packet.count, CInt(MSG_NOSIGNAL))
        guard count != packet.count else { return }
        let isForbidden = count < 0 && errno == EPERM
        throw PeripheralError(
            code: isForbidden ? .permissionDenied : .adapterUnavailable,
            message: isForbidden
                ? "Only a program with the capability CAP_NET_RAW may ask for connection parameters."
                : "The kernel does not accept the command. The adapter may be powered off."
        )
    }

    package func close() {
        source?.cancel()
        (source, socket) = (nil, nil)
    }
}

extension SocketFilter {
    /// Passes the events that ``LinkEvent`` reads.
    ///
    /// Offsets count from the type of the packet.
    static let linkEvents = SocketFilter(program: [
        .loadByte(1),
        // Disconnection Complete.
        .ifEqual(0x05, skip: 0, else: 1),
        .pass(7),
        // Command Complete, and Command Status, of the commands of LinkCommand.
        .ifEqual(0x0E, skip: 0, else: 2),
        .loadHalf(4),
        .ifEqual(0x0514, skip: 10, else: 11),
        .ifEqual(0x0F, skip: 0, else: 3),
        .loadHalf(5),
        .ifEqual(0x0514, skip: 7, else: 0),
        .ifEqual(0x1320, skip: 6, else: 7),
        // The beginning and the change of a link to a Bluetooth LE device.
        .ifEqual(0x3E, skip: 0, else: 6),
        .loadByte(3),
        .ifEqual(0x01, skip: 3, else: 0),
        .ifEqual(0x03, skip: 2, else: 0),
        .ifEqual(0x0A, skip: 1, else: 0),
        .ifEqual(0x29, skip: 0, else: 1),
        .pass(64),
        .pass(0),
    ])
}
