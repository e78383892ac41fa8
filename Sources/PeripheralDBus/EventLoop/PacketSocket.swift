internal import Glibc

/// One end of a pair of sockets that carry packets, whose other end goes to another process.
///
/// Belongs to the event loop: it is made, used and, by all means, closed there. Until then it keeps itself: what is referred to
/// weakly costs more with each use.
package final class PacketSocket {
    package enum Event {
        case packet([UInt8])
        /// The other end is closed.
        case closed
    }

    private struct Packet {
        var bytes: [UInt8]
        var isTaken: (Bool) -> Void
    }

    /// No value of an attribute is longer.
    private static let longestPacket = 512

    private let loop: EventLoop
    /// `nil` once it is closed.
    private var own: OwnedFileDescriptor?
    private let handle: (Event) -> Void
    private var incoming: LoopSource?
    private var outgoing: LoopSource?
    private var queue: [Packet] = []

    /// Makes a pair.
    ///
    /// Neither end blocks whoever uses it.
    ///
    /// - Parameters:
    ///   - loop: The loop that the caller is on.
    ///   - handle: Told on the loop what comes from the other end.
    /// - Returns: This end, and the other; `nil` when there are no file descriptors left.
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

    /// Sends a packet after those before it.
    ///
    /// - Parameter bytes: The packet; an empty one looks like the end to most who receive it.
    /// - Returns: Whether the socket has taken it; `nil` when it cannot now, see ``sendLater(_:_:)``.
    package func send(_ bytes: [UInt8]) -> Bool? {
        guard let own else { return false }
        return queue.isEmpty ? Self.send(bytes, by: own) : nil
    }

    /// Sends a packet that the socket could not take at once.
    ///
    /// - Parameters:
    ///   - bytes: The packet.
    ///   - isTaken: Told on the loop whether the socket has taken it.
    package func sendLater(_ bytes: [UInt8], _ isTaken: @escaping (Bool) -> Void) {
        queue.append(Packet(bytes: bytes, isTaken: isTaken))
        flushLater()
    }

    /// - Returns: Whether the socket has taken it; `nil` when it is full.
    private static func send(_ bytes: [UInt8], by own: OwnedFileDescriptor) -> Bool? {
        let sent = unsafe bytes.withUnsafeBytes { bytes in
            unsafe Glibc.send(own.descriptor, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
        }
        return sent < 0 && [EAGAIN, EINTR, ENOBUFS, ENOMEM].contains(errno) ? nil : sent >= 0
    }

    /// What a packet takes in a socket, with all that the kernel keeps of it; more on nearly all machines.
    private static let leastMemory = 448

    /// Whether the other end has read everything.
    package var isRead: Bool { mostUnread == 0 }

    /// No more packets than so many have not been read by the other end.
    package var mostUnread: Int {
        guard let own else { return 0 }
        var unread: CInt = 0
        // Only this call could fail, for an end that is closed.
        guard unsafe ioctl(own.descriptor, UInt(TIOCOUTQ), &unread) == 0 else { return queue.count }
        return queue.count + (Int(unread) + Self.leastMemory - 1) / Self.leastMemory
    }

    /// Closes this end; what is still queued is not taken.
    package func close() {
        incoming?.cancel()
        outgoing?.cancel()
        // A child process that is just being started has the descriptor, too, until it runs its program.
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

    /// Takes what is there, until it is all taken or this end is closed.
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

    /// Tells an empty packet from the end, which look the same to those who receive.
    private func isOtherEndOpen(_ own: OwnedFileDescriptor) -> Bool {
        var entry = pollfd(fd: own.descriptor, events: 0, revents: 0)
        return unsafe poll(&entry, 1, 0) == 0 || entry.revents & Int16(POLLHUP) == 0
    }
}
