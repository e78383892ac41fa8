internal import PeripheralCore
internal import PeripheralKit
private import Synchronization

/// The changes of the advertisements that the program requests during a run, one at a time.
final class AdvertisingDemands: Sendable {
    private struct State {
        /// The capabilities of the adapter, if they are known.
        var capabilities: AdvertisingCapabilities?
        var waiting: CheckedContinuation<Result<Void, any Error>, Never>?
        var isClosed = false
    }

    private let state = Mutex(State())

    func setCapabilities(_ capabilities: AdvertisingCapabilities) {
        state.withLock { $0.capabilities = capabilities }
    }

    /// Requests a change, and waits for its outcome.
    ///
    /// - Parameters:
    ///   - advertisements: The new advertisements.
    ///   - send: Passes on the request.
    /// - Throws: `DeclarationError` if an advertisement is not possible on the adapter. In that case, the
    ///   request is not passed on. Otherwise the error that ``end(_:)`` receives.
    func make(_ advertisements: [Advertisement], _ send: () -> Void) async throws {
        if let capabilities = state.withLock({ $0.capabilities }) {
            let issues = advertisements.plans(for: capabilities).flatMap(\.issues)
            let errors = issues.filter { $0.severity == .error }
            guard errors.isEmpty else { throw DeclarationError(issues: errors) }
        }
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
