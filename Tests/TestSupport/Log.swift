import Synchronization

/// What happened, in its order; a test can wait for the first.
package final class Log<Entry: Sendable>: Sendable {
    private let state = Mutex<[Entry]>([])
    private let first: AsyncStream<Void>
    private let began: AsyncStream<Void>.Continuation

    package init() {
        (first, began) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    package var entries: [Entry] { state.withLock(\.self) }

    package func append(_ entry: Entry) {
        state.withLock { $0.append(entry) }
        began.yield()
    }

    package func untilNotEmpty() async {
        for await _ in first { return }
    }
}
