private import Synchronization

/// What a scenario's peripheral has seen, for the scenario to wait for.
package final class Recorder<Element: Sendable>: Sendable {
    private let stream: AsyncStream<Element>
    private let continuation: AsyncStream<Element>.Continuation
    private let recorded = Mutex(0)

    /// How many were recorded, taken or not.
    package var count: Int { recorded.withLock { $0 } }

    package init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    package func record(_ element: Element) {
        recorded.withLock { $0 += 1 }
        continuation.yield(element)
    }

    /// Waits for the next that has not been taken.
    package func next() async throws -> Element {
        for await element in stream { return element }
        throw CancellationError()
    }
}
