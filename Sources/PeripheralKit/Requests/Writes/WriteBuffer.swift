internal import PeripheralCore
private import Synchronization

/// A bounded queue of the writes that the program has not consumed yet, for any number of readers.
///
/// Each write is delivered to one reader. Waiting readers and waiting writers are served in order.
final class WriteBuffer: Sendable {
    struct Write: Sendable {
        var value: [UInt8]
        var central: Central
        /// The number of the central's connection that the write arrived on.
        var connection: UInt64 = 0
        /// Whether a write was lost between this write and the previous one of the same central.
        var followsLoss = false
        /// Whether this write is lost, and its entry only reports the loss.
        var isLost = false
    }

    private struct Reader {
        var number: UInt64
        var continuation: CheckedContinuation<Write?, Never>
    }

    private struct Writer {
        var number: UInt64
        var write: Write
        var continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var writes: [Write] = []
        /// The writers that wait for room, only while the buffer is full.
        var writers: [Writer] = []
        /// The readers that wait for a write, only while the buffer is empty.
        var readers: [Reader] = []
        var nextNumber: UInt64 = 0
        var isFinished = false

        mutating func makeNumber() -> UInt64 {
            defer { nextNumber += 1 }
            return nextNumber
        }
    }

    private let capacity: Int
    private let state = Mutex(State())

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Adds a write as soon as there is room.
    ///
    /// - Throws: `ATTError.unlikelyError` if the task is cancelled first or the session has ended. In these
    ///   cases, the write is not added.
    func append(_ write: Write) async throws(ATTError) {
        let number = state.withLock { $0.makeNumber() }
        let isTaken = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                enter(Writer(number: number, write: write, continuation: continuation))
            }
        } onCancel: {
            let writer = state.withLock { state in
                state.writers.firstIndex { $0.number == number }.map { state.writers.remove(at: $0) }
            }
            writer?.continuation.resume(returning: false)
        }
        guard isTaken else { throw .unlikelyError }
    }

    private func enter(_ writer: Writer) {
        let (isTaken, reader) = state.withLock { state -> (Bool?, Reader?) in
            guard !state.isFinished, !Task.isCancelled else { return (false, nil) }
            guard state.readers.isEmpty else { return (true, state.readers.removeFirst()) }
            guard state.writes.count < capacity else {
                state.writers.append(writer)
                return (nil, nil)
            }
            state.writes.append(writer.write)
            return (true, nil)
        }
        reader?.continuation.resume(returning: writer.write)
        if let isTaken { writer.continuation.resume(returning: isTaken) }
    }

    /// The number of waiting writers and readers.
    var waiting: (writers: Int, readers: Int) {
        state.withLock { ($0.writers.count, $0.readers.count) }
    }

    /// Returns the next write.
    ///
    /// The function returns `nil` if the session has ended and all writes are consumed, or if the task is
    /// cancelled. A cancelled task consumes no write. There is one exception. If a write is passed to the
    /// task at the moment of the cancellation, the function returns that write.
    func next() async -> Write? {
        let number = state.withLock { $0.makeNumber() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                enter(Reader(number: number, continuation: continuation))
            }
        } onCancel: {
            let reader = state.withLock { state in
                state.readers.firstIndex { $0.number == number }.map { state.readers.remove(at: $0) }
            }
            reader?.continuation.resume(returning: nil)
        }
    }

    private func enter(_ reader: Reader) {
        let (write, waits, writer) = state.withLock { state -> (Write?, Bool, Writer?) in
            guard !Task.isCancelled else { return (nil, false, nil) }
            guard !state.writes.isEmpty else {
                if !state.isFinished { state.readers.append(reader) }
                return (nil, !state.isFinished, nil)
            }
            let write = state.writes.removeFirst()
            let writer = state.writers.isEmpty ? nil : state.writers.removeFirst()
            if let writer { state.writes.append(writer.write) }
            return (write, false, writer)
        }
        writer?.continuation.resume(returning: true)
        if !waits { reader.continuation.resume(returning: write) }
    }

    /// Refuses all further writes.
    func finish() {
        let (writers, readers) = state.withLock { state in
            state.isFinished = true
            defer { (state.writers, state.readers) = ([], []) }
            return (state.writers, state.readers)
        }
        for writer in writers { writer.continuation.resume(returning: false) }
        for reader in readers { reader.continuation.resume(returning: nil) }
    }
}
