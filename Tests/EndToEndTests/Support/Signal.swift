/// Lets a test wait for something that happens elsewhere, however the two meet in time.
final class Signal<Value: Sendable>: Sendable {
    private let stream: AsyncStream<Value>
    private let continuation: AsyncStream<Value>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    func send(_ value: Value) {
        continuation.yield(value)
    }

    /// The next value that was or will be sent.
    ///
    /// - Throws: `CancellationError`.
    func next() async throws -> Value {
        for await value in stream { return value }
        throw CancellationError()
    }
}

extension Signal<Void> {
    func send() {
        send(())
    }
}

/// Waits until the task is cancelled, as a body does that has nothing to do.
///
/// - Throws: `CancellationError`.
func untilCancelled() async throws {
    _ = try await Signal<Void>().next()
}
