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

    /// The next value that was or will be sent; nil when the test is cancelled.
    func next() async -> Value? {
        var iterator = stream.makeAsyncIterator()
        return await iterator.next()
    }
}

extension Signal<Void> {
    func send() {
        send(())
    }
}
