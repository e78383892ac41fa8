internal import PeripheralKit
private import Synchronization

/// Reports the outcome of an update after each recipient has confirmed it or can no longer confirm it.
final class AwaitedConfirmations: Sendable {
    private struct State {
        /// Negative if recipients have confirmed before the number of recipients is known.
        var missing = 0
        var failure: PeripheralError?
        var isKnown = false

        var outcome: BackendUpdateOutcome? {
            guard isKnown, missing == 0 else { return nil }
            return failure.map { .failed($0) } ?? .completed
        }
    }

    private let state = Mutex(State())
    private let report: @Sendable (BackendUpdateOutcome) -> Void

    init(_ report: @escaping @Sendable (BackendUpdateOutcome) -> Void) {
        self.report = report
    }

    /// Sets the number of recipients, some of which may already have confirmed.
    func expect(_ recipients: Int) {
        change { state in
            state.missing += recipients
            state.isKnown = true
        }
    }

    /// Records that a central other than the expected recipients cannot confirm.
    func fail(_ failure: PeripheralError) {
        change { $0.failure = failure }
    }

    /// Handles the outcome of the update for one recipient.
    func note(_ outcome: VirtualUpdateOutcome) {
        change { state in
            state.missing -= 1
            switch outcome {
            case .sent, .confirmed:
                break
            case .disconnected:
                state.failure = PeripheralError(
                    code: .disconnected,
                    message: "A central disconnected before it confirmed the indication."
                )
            case .timedOut:
                state.failure = PeripheralError(
                    code: .unconfirmed,
                    message: "A central has not confirmed the indication in time."
                )
            }
        }
    }

    private func change(_ change: (inout State) -> Void) {
        let outcome = state.withLock { state in
            change(&state)
            return state.outcome
        }
        if let outcome { report(outcome) }
    }
}
