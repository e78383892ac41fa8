internal import PeripheralDBus
internal import PeripheralKit

/// Completes updates at a fixed pace.
///
/// This tracker is used if nothing reports the packets that the adapter sends. It belongs to the event loop.
final class PacedCompletion: CompletionTracker {
    private let sockets: SubscriberSockets
    private let reporter: EventReporter
    private let timer: CompletionTimer
    private var inFlight = InFlightUpdates()
    private var pace: CompletionPace

    /// Begins with the time between two values.
    init(interval: Duration, sockets: SubscriberSockets, reporter: EventReporter, turns: DaemonTurns) {
        self.sockets = sockets
        self.reporter = reporter
        timer = CompletionTimer(in: turns)
        pace = CompletionPace(interval: interval)
    }

    var completionReporting: CompletionReporting { .unknown }

    func willSend(_ update: BackendUpdate, to centrals: [Central.ID]) {
        guard !update.awaitsConfirmation else {
            // If there are several recipients, some may have requested notifications, and confirm nothing.
            guard centrals.count == 1, let central = centrals.first else { return }
            pace.indicated(update.id, to: central, unread: sockets.mostUnread(by: central), at: .now)
            return
        }
        let late = centrals.filter { central in
            let delivery = CompletionPace.Delivery(
                update: update.id,
                attribute: update.characteristic,
                central: central
            )
            return !pace.given(delivery, at: .now)
        }
        guard !late.isEmpty else { return }
        inFlight.given(update.id, of: update.characteristic, for: late)
        completeLater()
    }

    func withdraw(_ update: BackendUpdate.ID) {
        pace.withdraw(update)
        inFlight.withdraw(update)
    }

    func taken(_ update: BackendUpdate.ID, _ outcome: BackendUpdateOutcome) {
        if case .failed = outcome { pace.withdraw(update) }
        report([inFlight.taken(update, outcome)])
    }

    func received(_ request: CompletionPace.Request, from central: Central.ID) {
        pace.asked(request, by: central, unread: sockets.mostUnread(by: central), at: .now)
        complete()
    }

    func confirmed(_ update: BackendUpdate.ID) {
        pace.confirmed(update, at: .now)
        complete()
    }

    func disconnected(_ central: Central.ID) {
        pace.settled(central)
        report(inFlight.settled(central))
    }

    func end() {
        timer.cancel()
    }

    private func report(_ events: [BackendEvent?]) {
        // Without a timer, the loop does not wake up a program that sends rarely.
        if inFlight.isEmpty { timer.cancel() }
        reporter.report(all: events)
    }

    private func complete() {
        let completed = pace.completed(at: .now)
        report(completed.map { inFlight.completed($0.attribute, for: $0.central) })
        completeLater()
    }

    private func completeLater() {
        guard !timer.isSet, let next = pace.nextCompletion else { return }
        timer.set(after: max(next - .now, .zero)) { [weak self] in self?.complete() }
    }
}
