private import Synchronization

/// Runs one request at a time, as the Attribute Protocol requires (Core Specification, Vol 3, Part F, 3.3.2).
final class RequestQueue: Sendable {
    private struct State {
        var isBusy = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Runs the request after all earlier requests have ended.
    ///
    /// - Throws: `CancellationError` when the task is cancelled before the request runs, or the request's
    ///   error.
    func run<Output>(_ request: () async throws -> Output) async throws -> Output {
        await waitForTurn()
        defer { passOn() }
        try Task.checkCancellation()
        return try await request()
    }

    /// The number of requests that wait for their turn.
    var waiting: Int { state.withLock { $0.waiting.count } }

    private func waitForTurn() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.isBusy {
                    state.waiting.append(continuation)
                    return false
                }
                state.isBusy = true
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    private func passOn() {
        let next: CheckedContinuation<Void, Never>? = state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isBusy = false
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
