internal import Glibc
package import PeripheralDBus
package import PeripheralKit
internal import Synchronization

/// An L2CAP channel that the kernel provides as a socket.
///
/// The loop watches the socket only while the host waits, so an idle channel costs nothing. The kernel grants
/// credits to the central as long as its buffer has room. Two properties of the kernel need care (observed on
/// 6.1). After the end of a channel, the first `recv` reports the end, although packets still wait. And a
/// close drops all packets that the central has not granted credits for.
package final class L2CAPSocket: BackendChannel {
    private struct State {
        /// `nil` after the channel is closed.
        var socket: OwnedFileDescriptor?
        /// Receives the events until the channel is closed.
        var report: (@Sendable (BackendChannelEvent) -> Void)?
        /// Whether the host has closed the channel, while sent packets may still wait.
        var isClosing = false
        /// Whether the host waits for a packet.
        var awaitsInput = false
        /// Whether the host waits for room.
        var awaitsOutput = false
        var watch: LoopSource?
        /// Whether the kernel has reported room, and then refused a packet.
        var hasMisreportedRoom = false
        /// Whether the last event was the report of room.
        var reportedRoom = false
    }

    /// How often in a row the kernel can report the end or an empty packet before a packet that waits.
    private static let endReportLimit = 16
    /// The time between two looks at a socket that reports room for a packet, but refuses it.
    private static let retryTime = Duration.milliseconds(5)
    /// The time between two looks at a closing socket.
    private static let closingInterval = Duration.milliseconds(10)

    private let loop: EventLoop
    package let receiveMTU: Int
    package let sendMTU: Int
    /// The number of looks without progress after which a closing socket is closed.
    private let closingLooks: Int
    private let state: Mutex<State>

    /// - Parameters:
    ///   - socket: The nonblocking socket.
    ///   - loop: The loop that watches it.
    ///   - receiveMTU: The longest packet that can arrive.
    ///   - sendMTU: The longest packet to send.
    ///   - closingTime: How long a closing channel waits for the central without progress.
    package init(
        _ socket: OwnedFileDescriptor,
        on loop: EventLoop,
        receiveMTU: Int,
        sendMTU: Int,
        closingTime: Duration = .seconds(5)
    ) {
        self.loop = loop
        self.receiveMTU = receiveMTU
        self.sendMTU = sendMTU
        closingLooks = Int(closingTime / Self.closingInterval)
        state = Mutex(State(socket: socket))
    }

    package func begin(_ report: @escaping @Sendable (BackendChannelEvent) -> Void) {
        state.withLock { $0.report = report }
    }

    // MARK: Packets

    package func receive() -> BackendChannelInput {
        state.withLock { state in
            var endReports = 0
            while let socket = state.socket, !state.isClosing {
                let (count, error, packet) = Self.receive(atMost: receiveMTU, from: socket)
                if count > 0 { return .packet(packet) }
                if count < 0, error == EINTR { continue }
                if Self.hasHungUp(socket) || count < 0 && error != EAGAIN {
                    // No packet arrives any more. A report of the end, or an empty packet, can precede the
                    // packets that wait.
                    endReports += 1
                    guard endReports <= Self.endReportLimit, Self.memory(of: socket).waiting > 0 else {
                        return .ended
                    }
                    continue
                }
                if count == 0 { return .packet([]) }
                if !state.awaitsInput { loop.execute { self.setWatch() } }
                state.awaitsInput = true
                return .empty
            }
            return .ended
        }
    }

    /// Takes the next packet from the kernel, and returns the result of `recv` and the number of its error.
    private static func receive(
        atMost length: Int,
        from socket: OwnedFileDescriptor
    ) -> (count: Int, error: CInt, packet: [UInt8]) {
        // An array of this size would keep its memory, however short the packet is.
        unsafe withUnsafeTemporaryAllocation(byteCount: length, alignment: 1) { buffer in
            let count = unsafe recv(socket.descriptor, buffer.baseAddress, buffer.count, CInt(MSG_DONTWAIT))
            return (count, errno, unsafe Array(buffer.prefix(max(0, count))))
        }
    }

    package func send(_ packet: [UInt8]) -> BackendChannelOutput {
        state.withLock { state in
            guard let socket = state.socket, !state.isClosing else { return .ended }
            defer { state.reportedRoom = false }
            var error = Self.send(packet, over: socket)
            // A packet that never fits is refused although the kernel has room and credits. The credits may
            // have arrived after the first attempt.
            if error == EAGAIN, Self.isIdle(socket) {
                error = Self.send(packet, over: socket)
                if error == EAGAIN, Self.isIdle(socket) { error = EMSGSIZE }
            }
            let isFull = [EAGAIN, EINTR, ENOBUFS, ENOMEM].contains(error)
            // The kernel does not report the end of a shortage of memory.
            state.hasMisreportedRoom = isFull && (state.reportedRoom || error != EAGAIN)
            guard isFull else { return error == 0 ? .sent : error == EMSGSIZE ? .tooLong : .ended }
            if !state.awaitsOutput { loop.execute { self.setWatch() } }
            state.awaitsOutput = true
            return .full
        }
    }

    /// Sends a packet, and returns the number of the error, or 0.
    private static func send(_ packet: [UInt8], over socket: OwnedFileDescriptor) -> CInt {
        let flags = CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL)
        return unsafe Glibc.send(socket.descriptor, packet, packet.count, flags) < 0 ? errno : 0
    }

    /// Whether the kernel reports room, and no packet waits.
    ///
    /// While the central grants no credits, the kernel reports no room, even if no packet waits.
    private static func isIdle(_ socket: OwnedFileDescriptor) -> Bool {
        var entry = pollfd(fd: socket.descriptor, events: Int16(POLLOUT), revents: 0)
        return unsafe poll(&entry, 1, 0) > 0 && entry.revents == Int16(POLLOUT)
            && memory(of: socket).unsent == 0
    }

    private static func hasHungUp(_ socket: OwnedFileDescriptor) -> Bool {
        var entry = pollfd(fd: socket.descriptor, events: 0, revents: 0)
        return unsafe poll(&entry, 1, 0) > 0 && entry.revents & Int16(POLLHUP | POLLERR) != 0
    }

    /// The memory of the packets that the host has not received, and of those that have not left, in bytes.
    private static func memory(of socket: OwnedFileDescriptor) -> (waiting: UInt32, unsent: UInt32) {
        // `SO_MEMINFO`: the first number is the memory for receiving, the third one the memory for sending.
        var numbers = [UInt32](repeating: 0, count: 9)
        var size = socklen_t(numbers.count * MemoryLayout<UInt32>.size)
        guard unsafe getsockopt(socket.descriptor, SOL_SOCKET, SO_MEMINFO, &numbers, &size) == 0 else {
            return (0, 0)
        }
        return (numbers[0], numbers[2])
    }

    // MARK: Waiting

    /// Watches the socket for all that the host waits for.
    ///
    /// The function runs on the loop.
    private func setWatch() {
        state.withLock { state in
            state.watch?.cancel()
            state.watch = nil
            guard let socket = state.socket, state.awaitsInput || state.awaitsOutput else { return }
            if state.awaitsOutput, state.hasMisreportedRoom {
                state.watch = loop.schedule(after: Self.retryTime) { self.report([.readable, .writable]) }
                return
            }
            var events: FileDescriptorEvents = []
            if state.awaitsInput { events.insert(.readable) }
            if state.awaitsOutput { events.insert(.writable) }
            state.watch = loop.watch(fileDescriptor: socket.descriptor, events: events) { self.report($0) }
        }
    }

    private func report(_ events: FileDescriptorEvents) {
        let hasEnded = events.contains(.hangUp) || events.contains(.error)
        let (hasInput, hasOutput, report) = state.withLock { state in
            let hasInput = state.awaitsInput && (hasEnded || events.contains(.readable))
            let hasOutput = state.awaitsOutput && (hasEnded || events.contains(.writable))
            if hasInput { state.awaitsInput = false }
            if hasOutput { (state.awaitsOutput, state.reportedRoom) = (false, true) }
            return (hasInput, hasOutput, state.report)
        }
        setWatch()
        if hasInput { report?(.input) }
        if hasOutput { report?(.output) }
    }

    // MARK: Closing

    package func close() {
        let begins = state.withLock { state in
            guard state.socket != nil, !state.isClosing else { return false }
            state.isClosing = true
            return true
        }
        if begins { loop.execute { self.closeWhenSent(unsent: .max, remaining: self.closingLooks) } }
    }

    /// Closes the socket as soon as everything has left.
    ///
    /// - Parameters:
    ///   - earlier: The memory of unsent packets at the last look.
    ///   - remaining: The number of looks without progress before the socket is closed anyway.
    private func closeWhenSent(unsent earlier: UInt32, remaining: Int) {
        guard let socket = state.withLock(\.socket) else { return }
        let unsent = Self.memory(of: socket).unsent
        guard unsent > 0, remaining > 0, !Self.hasHungUp(socket) else { return closeAtOnce() }
        _ = loop.schedule(after: Self.closingInterval) {
            self.closeWhenSent(
                unsent: unsent,
                remaining: unsent < earlier ? self.closingLooks : remaining - 1
            )
        }
    }

    package func abort() {
        state.withLock { $0.isClosing = true }
        loop.execute { self.closeAtOnce() }
    }

    private func closeAtOnce() {
        let report = state.withLock { state in
            defer { (state.watch, state.socket, state.report) = (nil, nil, nil) }
            // The watch must end before the descriptor.
            state.watch?.cancel()
            if let socket = state.socket { _ = shutdown(socket.descriptor, CInt(SHUT_RDWR)) }
            return state.report
        }
        report?(.closed)
    }
}
