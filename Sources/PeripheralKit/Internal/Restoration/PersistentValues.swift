internal import PeripheralCore
private import Synchronization

/// The values that the framework keeps of a running peripheral.
final class PersistentValues: Sendable {
    private struct State {
        var values: [AttributeHandle: [UInt8]]
        /// What centrals have written that is not sent yet, in its order.
        var unsent: [Written] = []
        var begun: UInt64 = 0
    }

    private struct Written {
        var number: UInt64
        var handle: AttributeHandle
        var value: [UInt8]
    }

    private let state: Mutex<State>
    /// Whose turn it is to write each value.
    private let turns: [AttributeHandle: Turns]
    private let preservation: Preservation?
    private let durable: Set<AttributeHandle>
    private let send: @Sendable (AttributeHandle, [UInt8]) -> Void

    /// - Parameters:
    ///   - declarations: What is declared, by value handle.
    ///   - values: What the values are at first.
    ///   - preservation: What has them survive; `nil` when nothing does.
    ///   - send: Sends what a central has written to those who have subscribed.
    init(
        _ declarations: [AttributeHandle: PersistentValueDeclaration],
        values: [AttributeHandle: [UInt8]],
        preservation: Preservation?,
        send: @escaping @Sendable (AttributeHandle, [UInt8]) -> Void
    ) {
        self.send = send
        durable = Set(declarations.filter(\.value.isDurable).keys)
        state = Mutex(State(values: declarations.mapValues(\.initial).merging(values) { $1 }))
        turns = declarations.mapValues { _ in Turns() }
        self.preservation = preservation
    }

    /// The value; `nil` when it is not persistent.
    subscript(handle: AttributeHandle) -> [UInt8]? {
        state.withLock { $0.values[handle] }
    }

    /// Takes a value that a central writes once the handler has, and returns when it is as durable as it is declared to be.
    ///
    /// One central after the other: what the last handler has brought about is the value in the end.
    func write(
        _ value: [UInt8],
        to handle: AttributeHandle,
        _ handler: () async throws -> Void
    ) async throws {
        let number = try await inTurn(handle) {
            try await handler()
            return note(value, writtenTo: handle)
        }
        do {
            try await preserve(handle)
        } catch {
            state.withLock { $0.unsent.removeAll { $0.number == number } }
            throw error
        }
        sendWritten(upTo: number, of: handle)
    }

    /// Sets a value, and returns when it is as durable as it is declared to be.
    func set(_ value: [UInt8], of handle: AttributeHandle) async throws(RestorationError) {
        state.withLock { keep(value, of: handle, &$0) }
        try await preserve(handle)
    }

    /// Sends the value again if it is another one than that which was sent last: a central has written meanwhile.
    func resend(_ handle: AttributeHandle, unless sent: [UInt8]) {
        state.withLock { state in
            guard let value = state.values[handle], value != sent else { return }
            send(handle, value)
        }
    }

    private func note(_ value: [UInt8], writtenTo handle: AttributeHandle) -> UInt64 {
        state.withLock { state in
            keep(value, of: handle, &state)
            state.begun += 1
            state.unsent.append(Written(number: state.begun, handle: handle, value: value))
            return state.begun
        }
    }

    /// Inside the lock, so that what is preserved last is what was set last.
    private func keep(_ value: [UInt8], of handle: AttributeHandle, _ state: inout State) {
        state.values[handle] = value
        preservation?.set(value, of: handle)
    }

    private func preserve(_ handle: AttributeHandle) async throws(RestorationError) {
        if durable.contains(handle) { try await preservation?.flush() }
    }

    /// Sends what was written to a value up to a number, unless somebody else has who was served by the same save.
    ///
    /// Inside the lock, so that it is sent in the order in which it was written.
    private func sendWritten(upTo number: UInt64, of handle: AttributeHandle) {
        state.withLock { state in
            func isDue(_ written: Written) -> Bool { written.handle == handle && written.number <= number }
            for written in state.unsent where isDue(written) { send(handle, written.value) }
            state.unsent.removeAll(where: isDue)
        }
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
