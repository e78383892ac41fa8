internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// The sockets that bluetoothd reads.
///
/// Each socket reaches one subscriber of one characteristic. The sockets belong to the event loop.
final class SubscriberSockets {
    private let loop: EventLoop
    private var sockets: [SubscriptionTable.Socket: PacketSocket] = [:]

    init(on loop: EventLoop) {
        self.loop = loop
    }

    /// Opens a socket.
    ///
    /// - Parameters:
    ///   - socket: The central that the socket reaches, and the characteristic.
    ///   - handle: Called for each event of the socket.
    /// - Returns: bluetoothd's end of the socket; `nil` if no socket can be opened.
    func open(
        _ socket: SubscriptionTable.Socket,
        _ handle: @escaping (PacketSocket.Event) -> Void
    ) -> OwnedFileDescriptor? {
        guard let pair = PacketSocket.pair(on: loop, handle) else { return nil }
        sockets[socket] = pair.own
        return pair.other
    }

    /// Removes and returns a socket without closing it.
    func take(_ socket: SubscriptionTable.Socket) -> PacketSocket? {
        sockets.removeValue(forKey: socket)
    }

    func close(_ socket: SubscriptionTable.Socket) {
        sockets.removeValue(forKey: socket)?.close()
    }

    func closeAll() {
        let open = sockets.values
        sockets = [:]
        for socket in open { socket.close() }
    }

    /// Returns the socket that sends the packets; `nil` if the socket is closed.
    func packets(for socket: SubscriptionTable.Socket) -> PacketSocket? { sockets[socket] }

    /// The open sockets of a central.
    func all(of central: Central.ID) -> [SubscriptionTable.Socket] {
        sockets.keys.filter { $0.central == central }
    }

    /// The open sockets of a characteristic.
    func all(of characteristic: AttributeHandle) -> [SubscriptionTable.Socket] {
        sockets.keys.filter { $0.characteristic == characteristic }
    }

    /// Whether bluetoothd has read everything from the sockets of a characteristic.
    func isAllRead(of characteristic: AttributeHandle) -> Bool {
        sockets.allSatisfy { $0.key.characteristic != characteristic || $0.value.isRead }
    }

    /// Whether bluetoothd has read everything from the sockets of a central.
    func isAllRead(for central: Central.ID) -> Bool {
        sockets.allSatisfy { $0.key.central != central || $0.value.isRead }
    }

    /// Returns the largest possible number of updates for a central that bluetoothd has not read yet.
    func mostUnread(by central: Central.ID) -> Int {
        sockets.reduce(0) { $0 + ($1.key.central == central ? $1.value.mostUnread : 0) }
    }
}
