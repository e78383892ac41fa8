internal import PeripheralCore

/// The writes of a characteristic that the program has not taken yet.
final class WriteBuffer: Sendable {
    struct Write: Sendable {
        var value: [UInt8]
        var central: Central
    }

    private let slots: Slots
    private let (writes, incoming) = AsyncStream.makeStream(of: Write.self)

    init(capacity: Int) {
        slots = Slots(count: capacity)
    }

    /// Adds a write, as soon as there is room.
    ///
    /// - Throws: `CancellationError` when the task is cancelled before, and ``PeripheralError`` with the code `stopped`
    ///   when the session has ended; the write is not taken then.
    func append(_ write: Write) async throws {
        try await slots.enter()
        incoming.yield(write)
    }

    /// The next write; `nil` when the session has ended and all are taken.
    func next() async -> Write? {
        var iterator = writes.makeAsyncIterator()
        guard let write = await iterator.next() else { return nil }
        slots.leave()
        return write
    }

    /// Takes no more writes.
    func finish() {
        slots.close()
        incoming.finish()
    }
}
