internal import CPeripheralDBus

/// A call whose reply has not arrived yet.
struct PendingCall {
    /// Receives the values of the reply, or the reason why there is no reply.
    typealias Completion = (Result<[BusValue], BusError>) -> Void

    let identifier: UInt64
    /// The name that was called.
    let destination: BusName
    /// The owner of that name at the time of the call, if the name is watched.
    let owner: BusName?
    let timer: LoopSource
    let completion: Completion

    func finish(_ result: Result<[BusValue], BusError>) {
        timer.cancel()
        completion(result)
    }
}

extension BusConnection {
    /// Calls a method and waits for its reply.
    ///
    /// Cancelling the waiting task ends only the wait. The other side still performs the call.
    ///
    /// - Parameters:
    ///   - destination: The bus name to call.
    ///   - path: The object.
    ///   - interface: The interface.
    ///   - member: The method.
    ///   - body: The arguments.
    ///   - timeout: The maximum time to wait for the reply.
    ///   - arrived: Called on the loop when the reply arrives or the call fails, before any later message is
    ///     handled. The caller resumes when the loop reaches its job, which may be several messages later.
    /// - Returns: The values of the reply.
    /// - Throws: ``BusError/remote(name:message:)`` with the error that the other side returned,
    ///   ``BusError/timedOut``, ``BusError/cancelled``, ``BusError/disconnected``, or the reason why `body`
    ///   cannot be sent.
    package func call(
        _ destination: BusName,
        _ path: ObjectPath,
        _ interface: InterfaceName,
        _ member: MemberName,
        _ body: [BusValue] = [],
        timeout: Duration = .seconds(25),
        arrived: @escaping @Sendable () -> Void = {}
    ) async throws(BusError) -> [BusValue] {
        guard !Task.isCancelled else { throw .cancelled }
        let message = try OutgoingMessage.methodCall(destination, path, interface, member)
        try message.write { $0.append(body) }
        let identifier = nextIdentifier()
        let pointer = unsafe message.pointer
        let result: Result<[BusValue], BusError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                unsafe send(pointer, to: destination, as: identifier, timeout: timeout) { result in
                    arrived()
                    continuation.resume(returning: result)
                }
            }
        } onCancel: {
            // This job is queued behind the job that sends the call, so the loop runs it after the call was
            // sent.
            loop.execute { self.assumeIsolated { $0.finishCall(identifier, with: .cancelled) } }
        }
        return try result.get()
    }

    /// Sends a method call immediately, before any later message.
    ///
    /// - Parameters:
    ///   - destination: The bus name to call.
    ///   - path: The object.
    ///   - interface: The interface.
    ///   - member: The method.
    ///   - body: The arguments.
    ///   - timeout: The maximum time to wait for the reply.
    ///   - completion: Called on the loop, in message order. It receives the values of the reply, or
    ///     ``BusError/remote(name:message:)``, ``BusError/timedOut`` or ``BusError/disconnected``.
    /// - Throws: The reason why `body` cannot be sent. In this case nothing was sent.
    package func call(
        _ destination: BusName,
        _ path: ObjectPath,
        _ interface: InterfaceName,
        _ member: MemberName,
        _ body: [BusValue] = [],
        timeout: Duration = .seconds(25),
        completion: @escaping (Result<[BusValue], BusError>) -> Void
    ) throws(BusError) {
        let message = try OutgoingMessage.methodCall(destination, path, interface, member)
        try message.write { $0.append(body) }
        unsafe send(
            message.pointer,
            to: destination,
            as: nextIdentifier(),
            timeout: timeout,
            completion: completion
        )
    }

    /// Calls a method with the flag that no reply is expected.
    package func callWithoutReply(
        _ destination: BusName,
        _ path: ObjectPath,
        _ interface: InterfaceName,
        _ member: MemberName,
        _ body: [BusValue] = []
    ) throws(BusError) {
        let message = try OutgoingMessage.methodCall(destination, path, interface, member)
        try message.write { $0.append(body) }
        unsafe dbus_message_set_no_reply(message.pointer, 1)
        guard unsafe transport.send(message.pointer) != nil else { throw .disconnected }
    }

    /// Calls a method and ignores the reply, which the other side still sends.
    package func callIgnoringAnswer(
        _ destination: BusName,
        _ path: ObjectPath,
        _ interface: InterfaceName,
        _ member: MemberName,
        _ body: [BusValue] = []
    ) throws(BusError) {
        let message = try OutgoingMessage.methodCall(destination, path, interface, member)
        try message.write { $0.append(body) }
        guard unsafe transport.send(message.pointer) != nil else { throw .disconnected }
    }

    /// Sends a call to the bus itself.
    ///
    /// `completion` runs on the loop in message order.
    func callBus(
        _ member: MemberName,
        _ argument: String,
        completion: @escaping PendingCall.Completion
    ) throws(BusError) {
        let message = try OutgoingMessage.methodCall(.bus, Self.busPath, Self.busInterface, member)
        try message.write { $0.append(argument) }
        unsafe send(
            message.pointer,
            to: .bus,
            as: nextIdentifier(),
            timeout: .seconds(25),
            completion: completion
        )
    }

    private func send(
        _ message: OpaquePointer,
        to destination: BusName,
        as identifier: UInt64,
        timeout: Duration,
        completion: @escaping PendingCall.Completion
    ) {
        guard phase == .open || phase == .opening, let serial = unsafe transport.send(message) else {
            return completion(.failure(.disconnected))
        }
        let timer = loop.schedule(after: timeout) { [weak self] in
            self?.assumeIsolated { $0.finishCall(identifier, with: .timedOut) }
        }
        pendingCalls[serial] = PendingCall(
            identifier: identifier,
            destination: destination,
            owner: watchedNames[destination]?.owner,
            timer: timer,
            completion: completion
        )
    }

    private func finishCall(_ identifier: UInt64, with error: BusError) {
        guard let entry = pendingCalls.first(where: { $0.value.identifier == identifier }) else { return }
        pendingCalls[entry.key] = nil
        entry.value.finish(.failure(error))
    }

    func receiveAnswer(_ message: OpaquePointer) {
        let serial = unsafe dbus_message_get_reply_serial(message)
        guard let call = pendingCalls[serial], unsafe mayAnswer(call, message) else { return }
        pendingCalls[serial] = nil
        if unsafe dbus_message_get_type(message) == DBUS_MESSAGE_TYPE_ERROR {
            unsafe call.finish(.failure(remoteError(message)))
        } else {
            var reader = unsafe MessageReader(message)
            call.finish(Result { () throws(BusError) in try reader.readValues() })
        }
    }

    /// Returns whether a reply comes from the called program.
    ///
    /// The bus forwards only expected replies, but this method does not depend on that.
    private func mayAnswer(_ call: PendingCall, _ message: OpaquePointer) -> Bool {
        // The bus sets the sender of every message but its own, and it replies in place of absent programs.
        guard let pointer = unsafe dbus_message_get_sender(message) else { return true }
        let sender = unsafe BorrowedText(pointer)
        if sender.equals(BusName.bus.text) { return true }
        if call.destination == .bus { return false }
        if call.destination.isUnique { return sender.equals(call.destination.text) }
        // The owner of the name may have changed before the call arrived. The bus signals that change before
        // the reply.
        let owner = watchedNames[call.destination]?.owner
        return owner == nil && call.owner == nil
            || [owner, call.owner].contains { $0.map { sender.equals($0.text) } ?? false }
    }

    private func remoteError(_ message: OpaquePointer) -> BusError {
        let name = unsafe dbus_message_get_error_name(message).map { unsafe String(cString: $0) } ?? ""
        var reader = unsafe MessageReader(message)
        let text = (try? reader.readString()) ?? ""
        return .remote(name: name, message: text)
    }
}

// MARK: - Backpressure

extension BusConnection {
    /// The number of sent bytes that the bus has not read yet.
    package var outgoingSize: Int { transport.outgoingSize }

    /// Waits until at most `bound` sent bytes remain that the bus has not read.
    ///
    /// Waiting callers resume one at a time, in the order of their calls. The messages that one caller sends
    /// before it suspends again count for the next caller.
    ///
    /// - Throws: ``BusError/timedOut``, ``BusError/cancelled`` or ``BusError/disconnected``.
    package func waitUntilOutgoing(
        isAtMost bound: Int,
        timeout: Duration = .seconds(25)
    ) async throws(BusError) {
        guard !Task.isCancelled else { throw .cancelled }
        guard phase == .open || phase == .opening else { throw .disconnected }
        guard !drainWaiters.isEmpty || outgoingSize > bound else { return }
        let identifier = nextIdentifier()
        let waiter = DrainWaiter(identifier: identifier, bound: bound)
        let timer = loop.schedule(after: timeout) { waiter.fail(.timedOut) }
        drainWaiters.append(waiter)
        defer {
            timer.cancel()
            drainWaiters.removeAll { $0 === waiter }
            // The next waiter runs after this caller has sent its messages and suspended again.
            wakeFirstDrainWaiter()
        }
        while drainWaiters.first !== waiter || outgoingSize > bound {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    // Looked up by its identifier: Swift 6.2 reports a data race if this closure captures the
                    // waiter.
                    drainWaiters.first { $0.identifier == identifier }?.wait(with: continuation)
                    // The bus may have read everything in the meantime, and that is signaled only once.
                    wakeFirstDrainWaiter()
                }
            } onCancel: {
                loop.execute { self.assumeIsolated { $0.cancelDrainWaiter(identifier) } }
            }
            if let failure = waiter.failure { throw failure }
        }
    }

    /// Wakes the longest-waiting caller if the queue is now short enough for it.
    func wakeFirstDrainWaiter() {
        guard let first = drainWaiters.first, outgoingSize <= first.bound else { return }
        first.wake()
    }

    func failDrainWaiters() {
        for waiter in drainWaiters { waiter.fail(.disconnected) }
    }

    private func cancelDrainWaiter(_ identifier: UInt64) {
        drainWaiters.first { $0.identifier == identifier }?.fail(.cancelled)
    }
}
