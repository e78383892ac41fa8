internal import PeripheralCore
private import Synchronization

/// What becomes of a transfer, for the one call that waits for it.
///
/// The newest of each receiver counts: a call that is slow to take it misses what came before, and holds up nobody.
final class TransferReport: Sendable {
    private struct State {
        /// In the order in which the receivers were first heard of.
        var progress: [TransferProgress] = []
        var outcome: Result<Void, any Error>?
    }

    private let state = Mutex(State())
    private let signal: AsyncStream<Void>.Continuation
    /// Comes when there is something new.
    let signals: AsyncStream<Void>

    init() {
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func note(_ progress: TransferProgress) {
        state.withLock { state in
            let index = state.progress.firstIndex { $0.central == progress.central }
            if let index { state.progress[index] = progress } else { state.progress.append(progress) }
        }
        signal.yield()
    }

    func end(_ outcome: Result<Void, any Error>) {
        state.withLock { $0.outcome = $0.outcome ?? outcome }
        signal.yield()
    }

    /// What is new.
    func take() -> (progress: [TransferProgress], outcome: Result<Void, any Error>?) {
        state.withLock { state in
            defer { state.progress = [] }
            return (state.progress, state.outcome)
        }
    }
}
