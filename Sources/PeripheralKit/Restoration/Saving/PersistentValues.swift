internal import PeripheralCore
private import Synchronization

/// The persistent values of a running peripheral.
final class PersistentValues: Sendable {
    /// An update that a change of a value causes: the new value, or an update that the handler has added.
    struct Update: Sendable {
        var characteristic: AttributeHandle
        var value: [UInt8]
    }

    fileprivate struct State {
        var values: [AttributeHandle: [UInt8]] = [:]
        /// The listeners to the changes of values.
        var listeners: [AttributeHandle: Broadcast<[UInt8]>] = [:]
        /// The turns for writing each value.
        var turns: [AttributeHandle: Turns]
        /// The values whose writes are answered when they are saved.
        var durable: Set<AttributeHandle>
        /// The updates that are sent as soon as they are saved, in order.
        var unsent: [Unsent] = []
    }

    fileprivate struct Unsent {
        /// The change that must be saved first.
        var change: UInt64
        var handle: AttributeHandle
        var updates: [Update]
    }

    /// The maximum number of unsaved changes of a value that wait to be sent.
    ///
    /// The oldest changes are dropped first.
    private static let maximumUnsent = 16

    private let state: Mutex<State>
    private let preservation: Preservation?
    /// Returns the number of updates that are retained for each subscriber of a durable characteristic.
    private let durableLimit: @Sendable (AttributeHandle) -> Int?
    private let send: @Sendable (AttributeHandle, [UInt8]) -> Void

    /// - Parameters:
    ///   - declarations: The declarations, by value handle.
    ///   - values: The initial values.
    ///   - durableLimit: Returns the number of updates that are retained for each subscriber of a durable
    ///     characteristic.
    ///   - preservation: Saves the values; `nil` without a restoration identifier.
    ///   - send: Sends an update of a characteristic that is not durable to its subscribers.
    init(
        _ declarations: [AttributeHandle: PersistentValueDeclaration],
        values: [AttributeHandle: [UInt8]],
        durableLimit: @escaping @Sendable (AttributeHandle) -> Int? = { _ in nil },
        preservation: Preservation?,
        send: @escaping @Sendable (AttributeHandle, [UInt8]) -> Void
    ) {
        self.send = send
        let isPreserved = preservation != nil
        self.durableLimit = { isPreserved ? durableLimit($0) : nil }
        state = Mutex(State(turns: [:], durable: []))
        self.preservation = preservation
        add(declarations, values: values)
        preservation?.whenSaved { [weak self] in self?.sendSaved() }
    }

    /// Adds the values of an added service.
    func add(
        _ declarations: [AttributeHandle: PersistentValueDeclaration],
        values: [AttributeHandle: [UInt8]]
    ) {
        state.withLock { state in
            for (handle, declaration) in declarations {
                state.set(values[handle] ?? declaration.initial, of: handle)
                state.turns[handle] = Turns()
                if declaration.isDurable { state.durable.insert(handle) }
            }
        }
    }

    /// Removes the values of a removed service, and the updates that wait for them to be saved.
    func remove(_ handles: ClosedRange<AttributeHandle>) {
        let removed = state.withLock { $0.remove(handles) }
        for turns in removed { turns.close() }
    }

    /// The value; `nil` when the characteristic has no persistent value.
    subscript(handle: AttributeHandle) -> [UInt8]? {
        state.withLock { $0.values[handle] }
    }

    /// Returns a value, followed by each later value.
    ///
    /// The sequence ends when the service is removed, or with ``close()``.
    func changes(of handle: AttributeHandle) -> AsyncStream<[UInt8]> {
        // Inside the lock, so that no newer value precedes this value.
        state.withLock { $0.listen(to: handle) }
    }

    /// Ends the sequences of all listeners.
    func close() {
        state.withLock { $0.endListeners() }
    }

    /// Stores a value that a central writes, after its handler has accepted it, with the declared durability.
    ///
    /// Writes are handled one after the other. The value of the last write remains.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - handle: The characteristic, by its value handle.
    ///   - handler: Handles the value and returns further updates.
    /// - Throws: The error of the handler, or ``RestorationError``.
    func write(
        _ value: [UInt8],
        to handle: AttributeHandle,
        _ handler: () async throws -> [Update]
    ) async throws {
        try await inTurn(handle) {
            try take(value, writtenTo: handle, with: try await handler())
        }
        if state.withLock({ $0.durable.contains(handle) }) { try await preservation?.flush() }
    }

    /// Sets a value, and returns when it has the declared durability.
    ///
    /// - Returns: Whether the update of the value is retained and is sent automatically.
    func set(_ value: [UInt8], of handle: AttributeHandle) async throws -> Bool {
        if let preservation, let limit = durableLimit(handle) {
            let update = DurableUpdate(characteristic: handle, value: value, limit: limit)
            while try !keep(value, of: handle, posting: update) {
                // Unsaved updates continue to occupy room. If the store is broken, flushing throws instead of
                // waiting.
                try await preservation.flush()
                try await preservation.untilRoom(of: handle, limit: limit)
            }
            try await preservation.flush()
            return true
        }
        // Inside the lock, so that the value that was set last is also preserved last.
        let (change, isDurable) = try state.withLock { state throws(PeripheralError) in
            try state.checkIsPresent(handle)
            state.set(value, of: handle)
            return (preservation?.set(value, of: handle), state.durable.contains(handle))
        }
        guard isDurable, let preservation, let change else { return false }
        do {
            try await preservation.flush()
        } catch {
            sendLater(value, of: handle, after: change)
            throw error
        }
        return false
    }

    /// Sends the value again if it differs from the last sent value, because a central has written meanwhile.
    func resend(_ handle: AttributeHandle, unless sent: [UInt8]) {
        state.withLock { state in
            guard let value = state.values[handle], value != sent else { return }
            send(handle, value)
        }
    }

    private func take(
        _ value: [UInt8],
        writtenTo handle: AttributeHandle,
        with others: [Update]
    ) throws(PeripheralError) {
        let updates = [Update(characteristic: handle, value: value)] + others
        let kept = updates.compactMap { update in
            durableLimit(update.characteristic).map {
                DurableUpdate(characteristic: update.characteristic, value: update.value, limit: $0)
            }
        }
        try state.withLock { state throws(PeripheralError) in
            try state.checkIsPresent(handle)
            state.set(value, of: handle)
            let change = preservation?.write(value, to: handle, posting: kept, sending: state.sending(handle))
            let fleeting = updates.filter { durableLimit($0.characteristic) == nil }
            guard state.durable.contains(handle), let change else { return send(fleeting) }
            state.append(Unsent(change: change, handle: handle, updates: fleeting), limit: Self.maximumUnsent)
        }
    }

    /// - Returns: Whether there is room for the update. Without room, the value has not changed.
    private func keep(
        _ value: [UInt8],
        of handle: AttributeHandle,
        posting update: DurableUpdate
    ) throws(PeripheralError) -> Bool {
        try state.withLock { state throws(PeripheralError) in
            try state.checkIsPresent(handle)
            guard
                preservation?.set(value, of: handle, posting: update, sending: state.sending(handle)) == true
            else { return false }
            state.set(value, of: handle)
            return true
        }
    }

    /// Sends a value that could not be saved, after it is saved.
    private func sendLater(_ value: [UInt8], of handle: AttributeHandle, after change: UInt64) {
        state.withLock { state in
            // If the value has changed meanwhile, the newer change sends its own update.
            guard state.values[handle] == value else { return }
            let update = Update(characteristic: handle, value: value)
            state.append(Unsent(change: change, handle: handle, updates: [update]), limit: Self.maximumUnsent)
        }
        // The value may have been saved meanwhile.
        sendSaved()
    }

    /// Sends the saved updates that have not been sent.
    ///
    /// The updates are sent inside the lock, in the order in which the values were written.
    private func sendSaved() {
        guard let preservation else { return }
        state.withLock { state in
            let saved = preservation.lastSaved
            let due = state.unsent.prefix { $0.change <= saved }
            for unsent in due { send(unsent.updates) }
            state.unsent.removeFirst(due.count)
        }
    }

    private func send(_ updates: [Update]) {
        for update in updates { send(update.characteristic, update.value) }
    }

    private func inTurn<Output>(
        _ handle: AttributeHandle,
        _ body: () async throws -> Output
    ) async throws -> Output {
        guard let turns = state.withLock({ $0.turns[handle] }) else { return try await body() }
        try await turns.enter()
        defer { turns.leave() }
        return try await body()
    }
}

extension PersistentValues.State {
    /// Sets a value, and reports a change to the listeners.
    fileprivate mutating func set(_ value: [UInt8], of handle: AttributeHandle) {
        let former = values.updateValue(value, forKey: handle)
        if former != value { listeners[handle]?.send(value) }
    }

    fileprivate mutating func listen(to handle: AttributeHandle) -> AsyncStream<[UInt8]> {
        let changes = listeners[handle] ?? Broadcast(capacity: 64)
        listeners[handle] = changes
        return changes.listen(startingWith: values[handle])
    }

    fileprivate mutating func endListeners() {
        for changes in listeners.values { changes.finish() }
        listeners = [:]
    }

    /// Removes values, and returns their turns.
    fileprivate mutating func remove(_ handles: ClosedRange<AttributeHandle>) -> [Turns] {
        let removed = turns.filter { handles.contains($0.key) }
        for handle in removed.keys {
            (values[handle], turns[handle]) = (nil, nil)
            listeners.removeValue(forKey: handle)?.finish()
            durable.remove(handle)
        }
        unsent.removeAll { handles.contains($0.handle) }
        return Array(removed.values)
    }

    /// - Throws: ``PeripheralError`` with the code `serviceRemoved`. The value must not return to the
    ///   preserved state.
    fileprivate func checkIsPresent(_ handle: AttributeHandle) throws(PeripheralError) {
        guard turns[handle] == nil else { return }
        throw .serviceRemoved
    }

    fileprivate func sending(_ handle: AttributeHandle) -> Preservation.Sending {
        durable.contains(handle) ? .onceSaved : .atOnce
    }

    fileprivate mutating func append(_ new: PersistentValues.Unsent, limit: Int) {
        unsent.append(new)
        guard unsent.count(where: { $0.handle == new.handle }) > limit,
            let oldest = unsent.firstIndex(where: { $0.handle == new.handle })
        else { return }
        unsent.remove(at: oldest)
    }
}
