internal import PeripheralCore
private import Synchronization

/// The progress and outcome of a transfer, for the call that waits for it.
///
/// Only the newest progress of each subscriber counts. A slow call misses earlier progress and does not delay
/// other calls.
final class TransferReport: Sendable {
    private struct State {
        /// In the order in which the subscribers first made progress.
        var progress: [TransferProgress] = []
        var outcome: Result<Void, any Error>?
    }

    private let state = Mutex(State())
    private let signal: AsyncStream<Void>.Continuation
    /// Yields when there is new progress or an outcome.
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

    /// Takes the new progress and the outcome.
    func take() -> (progress: [TransferProgress], outcome: Result<Void, any Error>?) {
        state.withLock { state in
            defer { state.progress = [] }
            return (state.progress, state.outcome)
        }
    }
}
