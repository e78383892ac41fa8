internal import PeripheralKit
private import Synchronization

/// Waits until all recipients of an update have confirmed it, or cannot any more.
final class AwaitedConfirmations: Sendable {
    private struct State {
        /// Below zero while it is not yet known how many there are.
        var missing = 0
        var failure: PeripheralError?
        var isKnown = false

        var outcome: UpdateOutcome? {
            guard isKnown, missing == 0 else { return nil }
            return failure.map { .failed($0) } ?? .delivered
        }
    }

    private let state = Mutex(State())
    private let report: @Sendable (UpdateOutcome) -> Void

    init(_ report: @escaping @Sendable (UpdateOutcome) -> Void) {
        self.report = report
    }

    /// Says how many recipients there are, some of which may have confirmed already.
    func expect(_ recipients: Int) {
        change { state in
            state.missing += recipients
            state.isKnown = true
        }
    }

    /// Says that somebody cannot confirm it, besides those who are expected to.
    func fail(_ failure: PeripheralError) {
        change { $0.failure = failure }
    }

    /// Takes note of what has become of the update on its way to one of them.
    func note(_ outcome: VirtualUpdateOutcome) {
        change { state in
            state.missing -= 1
            switch outcome {
            case .sent, .confirmed:
                break
            case .disconnected:
                state.failure = PeripheralError(code: .disconnected, message: "A central is gone.")
            case .timedOut:
                state.failure = PeripheralError(code: .unconfirmed, message: "A central has not confirmed.")
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
