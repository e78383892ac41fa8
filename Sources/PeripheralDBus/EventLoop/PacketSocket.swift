internal import Glibc

/// One end of a socket pair that carries packets.
///
/// The other end goes to another process.
///
/// The socket belongs to the event loop. Create it, use it and always close it there. It retains itself until
/// it is closed, because each use of a weak reference would cost more.
package final class PacketSocket {
    package enum Event {
        case packet([UInt8])
        /// The other end of the socket pair is closed.
        case closed
    }

    private struct Packet {
        var bytes: [UInt8]
        var isTaken: (Bool) -> Void
    }

    /// The maximum length of an attribute value.
    private static let longestPacket = 512

    private let loop: EventLoop
    /// `nil` after the socket is closed.
    private var own: OwnedFileDescriptor?
    private let handle: (Event) -> Void
    private var incoming: LoopSource?
    private var outgoing: LoopSource?
    private var queue: [Packet] = []

    /// Creates a socket pair.
    ///
    /// Both ends are nonblocking.
    ///
    /// - Parameters:
    ///   - loop: The loop that the caller runs on.
    ///   - handle: Called on the loop with the events from the other end.
    /// - Returns: This end and the other end, or `nil` if no file descriptors are available.
    package static func pair(
        on loop: EventLoop,
        _ handle: @escaping (Event) -> Void
    ) -> (own: PacketSocket, other: OwnedFileDescriptor)? {
        var descriptors: [CInt] = [-1, -1]
        let kind = CInt(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &descriptors) == 0 else { return nil }
        let own = PacketSocket(OwnedFileDescriptor(adopting: descriptors[0]), on: loop, handle)
        return (own, OwnedFileDescriptor(adopting: descriptors[1]))
    }

    private init(_ own: OwnedFileDescriptor, on loop: EventLoop, _ handle: @escaping (Event) -> Void) {
        self.loop = loop
        self.own = own
        self.handle = handle
        incoming = loop.watch(fileDescriptor: own.descriptor, events: .readable) { [self] _ in
            receive()
        }
    }

    /// Sends a packet after all earlier ones.
    ///
    /// - Parameter bytes: The packet. Most receivers mistake an empty packet for the end of the connection.
    /// - Returns: Whether the socket accepted the packet, or `nil` if it cannot now. See ``sendLater(_:_:)``.
    package func send(_ bytes: [UInt8]) -> Bool? {
        guard let own else { return false }
        return queue.isEmpty ? Self.send(bytes, by: own) : nil
    }

    /// Queues a packet that the socket could not accept immediately.
    ///
    /// - Parameters:
    ///   - bytes: The packet.
    ///   - isTaken: Called on the loop with whether the socket accepted the packet.
    package func sendLater(_ bytes: [UInt8], _ isTaken: @escaping (Bool) -> Void) {
        queue.append(Packet(bytes: bytes, isTaken: isTaken))
        flushLater()
    }

    /// - Returns: Whether the socket accepted the packet, or `nil` if it is full.
    private static func send(_ bytes: [UInt8], by own: OwnedFileDescriptor) -> Bool? {
        let sent = unsafe bytes.withUnsafeBytes { bytes in
            unsafe Glibc.send(own.descriptor, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
        }
        return sent < 0 && [EAGAIN, EINTR, ENOBUFS, ENOMEM].contains(errno) ? nil : sent >= 0
    }

    /// The least memory that a packet uses in a socket, including the kernel's overhead.
    ///
    /// On nearly all machines it uses more.
    private static let leastMemory = 448

    /// Whether the other end has read everything.
    package var isRead: Bool { mostUnread == 0 }

    /// An upper bound for the number of packets that the other end has not read.
    package var mostUnread: Int {
        guard let own else { return 0 }
        var unread: CInt = 0
        // Only this call can fail, for a closed end.
        guard unsafe ioctl(own.descriptor, UInt(TIOCOUTQ), &unread) == 0 else { return queue.count }
        return queue.count + (Int(unread) + Self.leastMemory - 1) / Self.leastMemory
    }

    /// Closes this end.
    ///
    /// Queued packets are not sent.
    package func close() {
        incoming?.cancel()
        outgoing?.cancel()
        // A child process that is being started also holds the descriptor until it executes its program.
        if let own { _ = shutdown(own.descriptor, CInt(SHUT_RDWR)) }
        (incoming, outgoing, own) = (nil, nil, nil)
        let unsent = queue
        queue = []
        for packet in unsent { packet.isTaken(false) }
    }

    private func flush() {
        while let packet = queue.first, let own {
            guard let isTaken = Self.send(packet.bytes, by: own) else { return flushLater() }
            queue.removeFirst()
            packet.isTaken(isTaken)
        }
        outgoing?.cancel()
        outgoing = nil
    }

    private func flushLater() {
        guard outgoing == nil, let own else { return }
        outgoing = loop.watch(fileDescriptor: own.descriptor, events: .writable) { [self] _ in
            flush()
        }
    }

    /// Reads until no data is left or this end is closed.
    private func receive() {
        while let own {
            var bytes: [UInt8] = Array(repeating: 0, count: Self.longestPacket)
            let count = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe recv(own.descriptor, buffer.baseAddress, buffer.count, 0)
            }
            if count > 0 {
                bytes.removeLast(bytes.count - count)
                handle(.packet(bytes))
            } else if count == 0, isOtherEndOpen(own) {
                handle(.packet([]))
            } else if count < 0, errno == EAGAIN || errno == EINTR {
                return
            } else {
                close()
                handle(.closed)
            }
        }
    }

    /// Distinguishes an empty packet from the end of the connection, which look the same to a receiver.
    private func isOtherEndOpen(_ own: OwnedFileDescriptor) -> Bool {
        var entry = pollfd(fd: own.descriptor, events: 0, revents: 0)
        return unsafe poll(&entry, 1, 0) == 0 || entry.revents & Int16(POLLHUP) == 0
    }
}
