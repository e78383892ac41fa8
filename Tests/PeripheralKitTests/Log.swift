import Synchronization

/// What happened, in its order; a test can wait for the first.
final class Log<Entry: Sendable>: Sendable {
    private let state = Mutex<[Entry]>([])
    private let first: AsyncStream<Void>
    private let began: AsyncStream<Void>.Continuation

    init() {
        (first, began) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    var entries: [Entry] { state.withLock(\.self) }

    func append(_ entry: Entry) {
        state.withLock { $0.append(entry) }
        began.yield()
    }

    func untilNotEmpty() async {
        for await _ in first { return }
    }
}
