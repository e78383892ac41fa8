internal import PeripheralCore
private import Synchronization

/// The values that the framework keeps of a running peripheral.
final class PersistentValues: Sendable {
    /// An update that a value brings about: that of itself, or one that its handler has added.
    struct Update: Sendable {
        var characteristic: AttributeHandle
        var value: [UInt8]
    }

    fileprivate struct State {
        var values: [AttributeHandle: [UInt8]]
        /// What is sent as soon as it is saved, in its order.
        var unsent: [Unsent] = []
    }

    fileprivate struct Unsent {
        /// The change that has to be saved before.
        var change: UInt64
        var handle: AttributeHandle
        var updates: [Update]
    }

    /// How many changes of a value are kept to be sent when they cannot be saved; the oldest go first.
    private static let maximumUnsent = 16

    private let state: Mutex<State>
    /// Whose turn it is to write each value.
    private let turns: [AttributeHandle: Turns]
    private let preservation: Preservation?
    private let durable: Set<AttributeHandle>
    private let durableLimits: [AttributeHandle: Int]
    private let send: @Sendable (AttributeHandle, [UInt8]) -> Void

    /// - Parameters:
    ///   - declarations: What is declared, by value handle.
    ///   - values: What the values are at first.
    ///   - durableLimits: How many updates of a durable characteristic are kept for each of its subscribers.
    ///   - preservation: What has them survive; `nil` when nothing does.
    ///   - send: Sends an update of a characteristic that is not durable to those who have subscribed.
    init(
        _ declarations: [AttributeHandle: PersistentValueDeclaration],
        values: [AttributeHandle: [UInt8]],
        durableLimits: [AttributeHandle: Int] = [:],
        preservation: Preservation?,
        send: @escaping @Sendable (AttributeHandle, [UInt8]) -> Void
    ) {
        self.send = send
        durable = Set(declarations.filter(\.value.isDurable).keys)
        self.durableLimits = preservation == nil ? [:] : durableLimits
        state = Mutex(State(values: declarations.mapValues(\.initial).merging(values) { $1 }))
        turns = declarations.mapValues { _ in Turns() }
        self.preservation = preservation
        preservation?.whenSaved { [weak self] in self?.sendSaved() }
    }

    /// The value; `nil` when it is not persistent.
    subscript(handle: AttributeHandle) -> [UInt8]? {
        state.withLock { $0.values[handle] }
    }

    /// Takes a value that a central writes once the handler has, and returns when it is as durable as it is declared to be.
    ///
    /// One central after the other: what the last handler has brought about is the value in the end.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - handle: The characteristic, by its value handle.
    ///   - handler: Takes the value, and tells what is to be sent beside it.
    /// - Throws: What the handler does, or ``RestorationError``.
    func write(
        _ value: [UInt8],
        to handle: AttributeHandle,
        _ handler: () async throws -> [Update]
    ) async throws {
        try await inTurn(handle) {
            take(value, writtenTo: handle, with: try await handler())
        }
        if durable.contains(handle) { try await preservation?.flush() }
    }

    /// Sets a value, and returns when it is as durable as it is declared to be.
    ///
    /// - Returns: Whether its update is kept, and goes to the subscribers by itself.
    func set(_ value: [UInt8], of handle: AttributeHandle) async throws -> Bool {
        if let preservation, let limit = durableLimits[handle] {
            let update = DurableUpdate(characteristic: handle, value: value, limit: limit)
            while !keep(value, of: handle, posting: update) {
                // What waits to be saved gives no room before: nobody can wait for a store that is broken.
                try await preservation.flush()
                try await preservation.untilRoom(of: handle, limit: limit)
            }
            try await preservation.flush()
            return true
        }
        // Inside the lock, so that what is preserved last is what was set last.
        let change = state.withLock { state in
            state.values[handle] = value
            return preservation?.set(value, of: handle)
        }
        guard durable.contains(handle), let preservation, let change else { return false }
        do {
            try await preservation.flush()
        } catch {
            sendLater(value, of: handle, after: change)
            throw error
        }
        return false
    }

    /// Sends the value again if it is another one than that which was sent last: a central has written meanwhile.
    func resend(_ handle: AttributeHandle, unless sent: [UInt8]) {
        state.withLock { state in
            guard let value = state.values[handle], value != sent else { return }
            send(handle, value)
        }
    }

    private func take(_ value: [UInt8], writtenTo handle: AttributeHandle, with others: [Update]) {
        let updates = [Update(characteristic: handle, value: value)] + others
        let kept = updates.compactMap { update in
            durableLimits[update.characteristic].map {
                DurableUpdate(characteristic: update.characteristic, value: update.value, limit: $0)
            }
        }
        state.withLock { state in
            state.values[handle] = value
            let change = preservation?.write(value, to: handle, posting: kept, sending: sending(handle))
            let fleeting = updates.filter { durableLimits[$0.characteristic] == nil }
            guard durable.contains(handle), let change else { return send(fleeting) }
            state.append(Unsent(change: change, handle: handle, updates: fleeting), limit: Self.maximumUnsent)
        }
    }

    /// - Returns: Whether there is room for the update; nothing has changed otherwise.
    private func keep(_ value: [UInt8], of handle: AttributeHandle, posting update: DurableUpdate) -> Bool {
        state.withLock { state in
            guard
                preservation?.set(value, of: handle, posting: update, sending: sending(handle)) == true
            else { return false }
            state.values[handle] = value
            return true
        }
    }

    private func sending(_ handle: AttributeHandle) -> Preservation.Sending {
        durable.contains(handle) ? .onceSaved : .atOnce
    }

    /// Has a value sent that could not be saved, once it is.
    private func sendLater(_ value: [UInt8], of handle: AttributeHandle, after change: UInt64) {
        state.withLock { state in
            // Of another one that it has become meanwhile, those hear who have to.
            guard state.values[handle] == value else { return }
            let update = Update(characteristic: handle, value: value)
            state.append(Unsent(change: change, handle: handle, updates: [update]), limit: Self.maximumUnsent)
        }
        // It may have been saved just now.
        sendSaved()
    }

    /// Sends what is saved, unless it is sent already.
    ///
    /// Inside the lock, so that it is sent in the order in which it was written.
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
        guard let turns = turns[handle] else { return try await body() }
        try await turns.enter()
        defer { turns.leave() }
        return try await body()
    }
}

extension PersistentValues.State {
    fileprivate mutating func append(_ new: PersistentValues.Unsent, limit: Int) {
        unsent.append(new)
        guard unsent.count(where: { $0.handle == new.handle }) > limit,
            let oldest = unsent.firstIndex(where: { $0.handle == new.handle })
        else { return }
        unsent.remove(at: oldest)
    }
}
