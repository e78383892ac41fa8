internal import PeripheralKit

/// Reports events to the host, and gathers the ends of updates into one report.
///
/// One report for many ends avoids a change of threads for each end. The reporter belongs to the event loop.
final class EventReporter {
    private let host: @Sendable (BackendEvent) -> Void
    private let turns: DaemonTurns
    /// The updates that have ended while the reporter gathers ends; `nil` at other times.
    private var ends: [(BackendUpdate.ID, BackendUpdateOutcome)]?

    init(to host: @escaping @Sendable (BackendEvent) -> Void, in turns: DaemonTurns) {
        self.host = host
        self.turns = turns
    }

    func report(_ event: BackendEvent) {
        if case .updateEnded(let id, let outcome) = event { ended(id, outcome) } else { host(event) }
    }

    func report(all events: [BackendEvent?]) {
        gatheringEnds {
            for case let event? in events { report(event) }
        }
    }

    /// Reports how an update has ended.
    func ended(_ id: BackendUpdate.ID, _ outcome: BackendUpdateOutcome) {
        if ends == nil { host(.updateEnded(id, outcome)) } else { ends?.append((id, outcome)) }
    }

    /// Runs the body, and reports all updates that end in the body together.
    func gatheringEnds(_ body: () -> Void) {
        guard ends == nil else { return body() }
        ends = []
        defer { reportGatheredEnds() }
        body()
    }

    /// Reports all updates that end in this turn of the loop together.
    func gatherEndsInThisTurn() {
        guard ends == nil else { return }
        ends = []
        turns.execute { [weak self] in self?.reportGatheredEnds() }
    }

    private func reportGatheredEnds() {
        let ended = ends ?? []
        ends = nil
        if !ended.isEmpty { host(.updatesEnded(ended)) }
    }
}
