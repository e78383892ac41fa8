internal import PeripheralKit
private import Synchronization

/// A change that the program requests during a run, and the wait for its outcome.
///
/// The program requests one change at a time.
final class PendingChange: Sendable {
    private struct State {
        var waiting: CheckedContinuation<Result<Void, any Error>, Never>?
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Requests a change, and waits for its outcome.
    ///
    /// - Parameter send: Passes on the request.
    /// - Throws: The error that ``end(_:)`` receives.
    func make(_ send: () -> Void) async throws {
        let outcome = await withCheckedContinuation { continuation in
            let isClosed = state.withLock { state in
                if !state.isClosed { state.waiting = continuation }
                return state.isClosed
            }
            if isClosed { continuation.resume(returning: .failure(Self.stopped)) } else { send() }
        }
        try outcome.get()
    }

    /// Ends the pending change with an outcome.
    func end(_ outcome: Result<Void, any Error>) {
        let waiting = state.withLock { $0.waiting.take() }
        waiting?.resume(returning: outcome)
    }

    /// Ends the pending change, and refuses all further changes.
    func close() {
        state.withLock { $0.isClosed = true }
        end(.failure(Self.stopped))
    }

    private static var stopped: PeripheralError {
        PeripheralError(code: .stopped, message: "The peripheral is no longer published.")
    }
}
