internal import Glibc
internal import PeripheralDBus

/// bluetoothd's end of a socket that an application has handed over by `AcquireNotify` or `AcquireWrite`.
///
/// Not `Sendable`: it is used on the event loop alone.
final class AcquiredSocket {
    /// The most bytes of a message that bluetoothd reads; the rest is lost.
    private static let capacity = 512

    private let descriptor: OwnedFileDescriptor
    private let loop: EventLoop
    private var source: LoopSource?
    private var received: (([UInt8]) -> Void)?
    private var closed: (() -> Void)?

    init(_ descriptor: OwnedFileDescriptor, on loop: EventLoop) {
        self.descriptor = descriptor
        self.loop = loop
    }

    /// Begins to watch the socket.
    ///
    /// - Parameters:
    ///   - received: Told of each message; without, bluetoothd reads none.
    ///   - closed: Told when the application has closed its end.
    func watch(received: (([UInt8]) -> Void)?, closed: @escaping () -> Void) {
        self.received = received
        self.closed = closed
        watch(for: received == nil ? [] : .readable)
    }

    private func watch(for events: FileDescriptorEvents) {
        source?.cancel()
        source = loop.watch(fileDescriptor: descriptor.descriptor, events: events) { [weak self] events in
            self?.happened(events)
        }
    }

    private func happened(_ events: FileDescriptorEvents) {
        if events.contains(.readable), let message = read() {
            if !message.isEmpty { return received?(message) ?? () }
            // bluetoothd takes an empty message for the end, and never reads again.
            received = nil
        }
        if !events.isDisjoint(with: [.hangUp, .error]) {
            let closed = closed
            close()
            closed?()
        } else if received == nil {
            watch(for: [])
        }
    }

    /// The next message; empty at the end, too.
    private func read() -> [UInt8]? {
        guard received != nil else { return nil }
        return unsafe [UInt8](unsafeUninitializedCapacity: Self.capacity) { buffer, count in
            unsafe count = max(0, Glibc.read(descriptor.descriptor, buffer.baseAddress, buffer.count))
        }
    }

    /// Sends a message.
    ///
    /// bluetoothd waits for room if the application has left the socket blocking, and serves nobody meanwhile. This does
    /// not.
    ///
    /// - Returns: Whether the socket has taken it.
    func send(_ message: [UInt8]) -> Bool {
        let flags = CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT)
        return unsafe message.withUnsafeBytes { bytes in
            unsafe Glibc.send(descriptor.descriptor, bytes.baseAddress, bytes.count, flags) >= 0
        }
    }

    /// Closes the socket; without effect the second time.
    func close() {
        source?.cancel()
        source = nil
        received = nil
        closed = nil
        let number = descriptor.take()
        if number >= 0 { _ = Glibc.close(number) }
    }
}
