private import Synchronization

/// The events that a scenario's peripheral records and the scenario waits for.
package final class Recorder<Element: Sendable>: Sendable {
    private let stream: AsyncStream<Element>
    private let continuation: AsyncStream<Element>.Continuation
    private let recorded = Mutex(0)

    /// The number of recorded elements, including elements that were already returned.
    package var count: Int { recorded.withLock { $0 } }

    package init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    package func record(_ element: Element) {
        recorded.withLock { $0 += 1 }
        continuation.yield(element)
    }

    /// Waits for the next element that was not returned yet.
    package func next() async throws -> Element {
        for await element in stream { return element }
        throw CancellationError()
    }
}
