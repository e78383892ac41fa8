internal import CPeripheralDBus

/// A call whose answer has not come yet.
struct PendingCall {
    /// Told of the values that were answered, or why there are none.
    typealias Completion = (Result<[BusValue], BusError>) -> Void

    let identifier: UInt64
    /// Who was called.
    let destination: BusName
    /// Who owned that name then, where it is followed.
    let owner: BusName?
    let timer: LoopSource
    let completion: Completion

    func finish(_ result: Result<[BusValue], BusError>) {
        timer.cancel()
        completion(result)
    }
}

extension BusConnection {
    /// Calls a method and waits for its answer.
    ///
    /// Cancelling the waiting task ends the wait, not what the other side does.
    ///
    /// - Parameters:
    ///   - destination: Who is called.
    ///   - path: The object.
    ///   - interface: The interface.
    ///   - member: The method.
    ///   - body: The arguments.
    ///   - timeout: How long the answer may take.
    ///   - arrived: Called on the loop when the answer comes, or why there is none, before any later message is served.
    ///     The caller itself goes on only when the loop comes to its job, which may be after several messages.
    /// - Returns: The values of the answer.
    /// - Throws: ``BusError/remote(name:message:)`` with the error that the other side answered,
    ///   ``BusError/timedOut``, ``BusError/cancelled``, ``BusError/disconnected``, or what is wrong with `body`.
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
            // The loop runs this after the call was sent, since it is queued behind the job that sends it.
            loop.execute { self.assumeIsolated { $0.finishCall(identifier, with: .cancelled) } }
        }
        return try result.get()
    }

    /// Calls a method at once, before anything that is sent later.
    ///
    /// - Parameters:
    ///   - destination: Who is called.
    ///   - path: The object.
    ///   - interface: The interface.
    ///   - member: The method.
    ///   - body: The arguments.
    ///   - timeout: How long the answer may take.
    ///   - completion: Told on the loop, in the order of the messages: of the values that were answered, or of
    ///     ``BusError/remote(name:message:)``, ``BusError/timedOut`` or ``BusError/disconnected``.
    /// - Throws: What is wrong with `body`; then nothing was sent.
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

    /// Calls a method whose answer nobody needs, and tells the other side so.
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

    /// Calls a method and pays no heed to the answer, which the other side gives nevertheless.
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

    /// Sends a call to the bus itself; `completion` runs on the loop in the order of the messages.
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

    /// Whether an answer comes from who was called.
    ///
    /// The bus passes on only answers that were asked for; this does not rely on it.
    private func mayAnswer(_ call: PendingCall, _ message: OpaquePointer) -> Bool {
        // The bus names all senders, but need not name itself, and answers in place of those who cannot.
        guard let pointer = unsafe dbus_message_get_sender(message) else { return true }
        let sender = unsafe BorrowedText(pointer)
        if sender.equals(BusName.bus.text) { return true }
        if call.destination == .bus { return false }
        if call.destination.isUnique { return sender.equals(call.destination.text) }
        // The name may have changed hands before the call arrived. Then the bus has told so before the answer.
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
