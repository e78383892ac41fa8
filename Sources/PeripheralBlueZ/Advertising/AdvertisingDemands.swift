internal import PeripheralCore
internal import PeripheralKit
private import Synchronization

/// What the program demands to be advertised while the peripheral runs: one demand at a time.
final class AdvertisingDemands: Sendable {
    private struct State {
        /// What the adapter can do, as far as it is known.
        var capabilities: AdvertisingCapabilities?
        var waiting: CheckedContinuation<Result<Void, any Error>, Never>?
        var isClosed = false
    }

    private let state = Mutex(State())

    func setCapabilities(_ capabilities: AdvertisingCapabilities) {
        state.withLock { $0.capabilities = capabilities }
    }

    /// Makes a demand, and waits for what comes of it.
    ///
    /// - Parameters:
    ///   - advertisements: What is to be advertised.
    ///   - send: Passes it on.
    /// - Throws: `DeclarationError` when an advertisement is not possible on the adapter; nothing is passed on then. What
    ///   ``end(_:)`` is told.
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

    /// Ends the demand.
    func end(_ outcome: Result<Void, any Error>) {
        let waiting = state.withLock { $0.waiting.take() }
        waiting?.resume(returning: outcome)
    }

    /// Ends the demand, and refuses those that come from now on.
    func close() {
        state.withLock { $0.isClosed = true }
        end(.failure(Self.stopped))
    }

    private static var stopped: PeripheralError {
        PeripheralError(code: .stopped, message: "The peripheral is no longer published.")
    }
}
