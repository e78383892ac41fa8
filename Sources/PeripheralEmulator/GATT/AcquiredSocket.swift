internal import Glibc
internal import PeripheralDBus

/// bluetoothd's end of a socket that an application has returned from `AcquireNotify` or `AcquireWrite`.
///
/// The socket is not `Sendable`, because only the event loop uses it.
final class AcquiredSocket {
    /// The largest number of bytes that bluetoothd reads of a message; all other bytes are lost.
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

    /// Starts to watch the socket.
    ///
    /// - Parameters:
    ///   - received: Called with each message. With `nil`, bluetoothd reads no messages.
    ///   - closed: Called when the application has closed its end.
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
            // bluetoothd interprets an empty message as the end, and then stops reading.
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

    /// Returns the next message, which is empty at the end.
    private func read() -> [UInt8]? {
        guard received != nil else { return nil }
        return unsafe [UInt8](unsafeUninitializedCapacity: Self.capacity) { buffer, count in
            unsafe count = max(0, Glibc.read(descriptor.descriptor, buffer.baseAddress, buffer.count))
        }
    }

    /// Sends a message.
    ///
    /// If the application has left the socket blocking, the real bluetoothd waits for room and handles
    /// nothing else in the meantime. This method does not wait.
    ///
    /// - Returns: Whether the socket has accepted the message.
    func send(_ message: [UInt8]) -> Bool {
        let flags = CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT)
        return unsafe message.withUnsafeBytes { bytes in
            unsafe Glibc.send(descriptor.descriptor, bytes.baseAddress, bytes.count, flags) >= 0
        }
    }

    /// Closes the socket; further calls have no effect.
    func close() {
        source?.cancel()
        source = nil
        received = nil
        closed = nil
        let number = descriptor.take()
        if number >= 0 { _ = Glibc.close(number) }
    }
}
