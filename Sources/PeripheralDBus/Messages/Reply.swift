internal import CPeripheralDBus
internal import Synchronization

/// The one answer to a method call.
///
/// Sending consumes it, so a second answer does not compile; dropping it unanswered sends
/// `org.freedesktop.DBus.Error.Failed`. When the caller expects no reply, nothing is ever sent.
package struct Reply: ~Copyable, Sendable {
    private let pending: PendingReply

    init(to call: OpaquePointer, on transport: Transport) {
        unsafe pending = PendingReply(to: call, on: transport)
    }

    deinit {
        pending.fail(.unanswered)
    }

    /// Whether the caller waits for an answer.
    package var isExpected: Bool { pending.isExpected }

    /// Answers with the arguments that `body` appends; call it on the loop.
    package consuming func send(_ body: (inout MessageWriter) -> Void) {
        pending.send(body)
        discard self
    }

    /// Answers without arguments; call it on the loop.
    package consuming func send() {
        pending.send { _ in }
        discard self
    }

    /// Answers with an error; call it on the loop.
    package consuming func fail(_ error: MethodError) {
        pending.fail(error)
        discard self
    }

    /// Turns this into an answer that any thread may give later; call it on the loop.
    package consuming func deferred() -> DeferredReply {
        let reply = DeferredReply(pending)
        discard self
        return reply
    }
}

/// The one answer to a method call, to be given later and from any thread: one hop back to the loop.
///
/// The first answer counts. Releasing it unanswered sends `org.freedesktop.DBus.Error.Failed`.
package final class DeferredReply: Sendable {
    private let pending: Mutex<PendingReply?>

    init(_ pending: PendingReply) {
        self.pending = Mutex(pending)
    }

    deinit {
        fail(.unanswered)
    }

    /// Answers with one byte array.
    ///
    /// - Returns: False when the call was answered before.
    @discardableResult
    package func send(bytes: [UInt8]) -> Bool {
        answer(.bytes(bytes))
    }

    /// Answers with the values given, which may be none.
    ///
    /// - Returns: False when the call was answered before.
    @discardableResult
    package func send(_ values: [BusValue] = []) -> Bool {
        answer(.values(values))
    }

    /// Answers with an error.
    ///
    /// - Returns: False when the call was answered before.
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
    fileprivate static let unanswered = MethodError(.failed, "the method was left without an answer")
}

/// A call and the transport to answer it on: the unmanaged core of ``Reply`` and ``DeferredReply``.
///
/// Exactly one of `send` and `fail` must be called, on the loop; both release what is held.
///
/// `@unchecked Sendable`: it is only carried between threads; both uses check that they run on the loop.
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
        precondition(transport.loop.inLoop, "a call is answered on the event loop; use deferred() elsewhere")
        if isExpected {
            do throws(BusError) {
                try answer(transport)
            } catch {
                // Without memory for the error either, there is nothing left to say.
                try? sendError(MethodError(.failed, "the answer cannot be sent: \(error)"), on: transport)
            }
        }
        unsafe dbus_message_unref(call)
    }
}
