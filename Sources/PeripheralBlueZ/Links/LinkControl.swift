internal import Glibc
package import PeripheralDBus

/// The controller of an adapter, which reports events about its links.
///
/// The object belongs to an event loop.
package protocol LinkControl: AnyObject {
    /// Whether the controller still reports events.
    var isOpen: Bool { get }

    /// Handles the events that have arrived.
    func receive()

    /// Stops receiving.
    func close()
}

/// The controller of an adapter through a raw socket of the kernel.
///
/// Each program that may open a Bluetooth socket receives the ends of links: the kernel's list of harmless
/// events (`hci_sec_filter` in net/bluetooth/hci_sock.c) contains them.
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
        // Event packets; Disconnection Complete.
        var filter: [UInt32] = [1 << 4, 1 << 5, 0, 0]
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
        .pass(0),
    ])
}
