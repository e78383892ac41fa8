/// What a scenario's peripheral has seen, for the scenario to wait for.
final class Recorder<Element: Sendable>: Sendable {
    private let stream: AsyncStream<Element>
    private let continuation: AsyncStream<Element>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    func record(_ element: Element) {
        continuation.yield(element)
    }

    /// Waits for the next that has not been taken.
    func next() async throws -> Element {
        for await element in stream { return element }
        throw CancellationError()
    }
}
