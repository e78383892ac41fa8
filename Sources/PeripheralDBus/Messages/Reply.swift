internal import CPeripheralDBus
internal import Synchronization

/// The one reply to a method call.
///
/// Sending consumes it, so a second reply does not compile. Releasing it without a reply sends
/// `org.freedesktop.DBus.Error.Failed`. If the caller expects no reply, nothing is ever sent.
package struct Reply: ~Copyable, Sendable {
    private let pending: PendingReply

    init(to call: OpaquePointer, on transport: Transport) {
        unsafe pending = PendingReply(to: call, on: transport)
    }

    deinit {
        pending.fail(.unanswered)
    }

    /// Whether the caller waits for a reply.
    package var isExpected: Bool { pending.isExpected }

    /// Replies with the arguments that `body` appends.
    ///
    /// Call it on the loop.
    package consuming func send(_ body: (inout MessageWriter) -> Void) {
        pending.send(body)
        discard self
    }

    /// Replies without arguments.
    ///
    /// Call it on the loop.
    package consuming func send() {
        pending.send { _ in }
        discard self
    }

    /// Replies with an error.
    ///
    /// Call it on the loop.
    package consuming func fail(_ error: MethodError) {
        pending.fail(error)
        discard self
    }

    /// Converts this into a reply that any thread may send later.
    ///
    /// Call it on the loop.
    package consuming func deferred() -> DeferredReply {
        let reply = DeferredReply(pending)
        discard self
        return reply
    }
}

/// The one reply to a method call, for sending later and from any thread.
///
/// Sending from another thread costs one hop to the loop.
///
/// Only the first reply counts. Releasing it without a reply sends `org.freedesktop.DBus.Error.Failed`.
package final class DeferredReply: Sendable {
    private let pending: Mutex<PendingReply?>

    init(_ pending: PendingReply) {
        self.pending = Mutex(pending)
    }

    deinit {
        fail(.unanswered)
    }

    /// Replies with one byte array.
    ///
    /// - Returns: `false` if the call already has a reply.
    @discardableResult
    package func send(bytes: [UInt8]) -> Bool {
        answer(.bytes(bytes))
    }

    /// Replies with the given values, possibly none.
    ///
    /// - Returns: `false` if the call already has a reply.
    @discardableResult
    package func send(_ values: [BusValue] = []) -> Bool {
        answer(.values(values))
    }

    /// Replies with an error.
    ///
    /// - Returns: `false` if the call already has a reply.
    @discardableResult
    package func fail(_ error: MethodError) -> Bool {
        answer(.error(error))
    }

    private func answer(_ content: PendingReply.Content) -> Bool {
        guard let pending = pending.withLock({ $0.take() }) else { return false }
        let loop = pending.loop
        if loop.inLoop {
            pending.answer(content)
        } else {
            loop.execute { pending.answer(content) }
        }
        return true
    }
}

extension MethodError {
    fileprivate static let unanswered = MethodError(.failed, "the method ended without a reply")
}

/// A call and its transport: the unmanaged core of ``Reply`` and ``DeferredReply``.
///
/// Call exactly one of `send` and `fail`, on the loop. Both release the references.
///
/// `@unchecked Sendable`: other threads only transfer it. Both methods check that they run on the loop.
@safe
struct PendingReply: @unchecked Sendable {
    private let transport: Unmanaged<Transport>
    private let call: OpaquePointer

    init(to call: OpaquePointer, on transport: Transport) {
        unsafe self.transport = Unmanaged.passRetained(transport)
        unsafe self.call = dbus_message_ref(call)
    }

    var loop: EventLoop { unsafe transport._withUnsafeGuaranteedRef { $0.loop } }

    var isExpected: Bool { unsafe dbus_message_get_no_reply(call) == 0 }

    enum Content: Sendable {
        case bytes([UInt8])
        case values([BusValue])
        case error(MethodError)
    }

    func answer(_ content: Content) {
        switch content {
        case .bytes(let bytes): send { $0.append(bytes: bytes) }
        case .values(let values): send { $0.append(values) }
        case .error(let error): fail(error)
        }
    }

    func send(_ body: (inout MessageWriter) -> Void) {
        finish { (transport) throws(BusError) in
            let reply = try unsafe OutgoingMessage.methodReturn(to: call)
            try reply.write(body)
            unsafe transport.send(reply.pointer)
        }
    }

    func fail(_ error: MethodError) {
        finish { (transport) throws(BusError) in try sendError(error, on: transport) }
    }

    private func sendError(_ error: MethodError, on transport: Transport) throws(BusError) {
        let reply = try unsafe OutgoingMessage.error(error, to: call)
        unsafe transport.send(reply.pointer)
    }

    private func finish(_ answer: (Transport) throws(BusError) -> Void) {
        let transport = unsafe self.transport.takeRetainedValue()
        precondition(transport.loop.inLoop, "reply to a call on the event loop, or use deferred()")
        if isExpected {
            do throws(BusError) {
                try answer(transport)
            } catch {
                // If there is no memory for the error either, no reply is possible.
                try? sendError(MethodError(.failed, "the reply cannot be sent: \(error)"), on: transport)
            }
        }
        unsafe dbus_message_unref(call)
    }
}
