internal import PeripheralDBus
internal import PeripheralKit

/// Estimates which updates are completed from the adapter's counters.
///
/// This tracker is used if the program may not watch the links. It belongs to the event loop.
final class EstimatedCompletion: CompletionTracker {
    /// The intervals at which the counters are read, while the adapter sends and while it does not send.
    private static let (shortestInterval, longestInterval) = (
        Duration.milliseconds(4), Duration.milliseconds(64)
    )

    private let adapter: ObjectPath
    private let kernelLinks: any KernelLinks
    private let reporter: EventReporter
    private let timer: CompletionTimer
    private var inFlight = InFlightUpdates()
    private var estimate: CompletionEstimate

    /// Begins with the counters of an adapter; `nil` if its driver does not count.
    init?(
        on adapter: ObjectPath,
        kernelLinks: any KernelLinks,
        reporter: EventReporter,
        turns: DaemonTurns
    ) {
        // An adapter that is powered on has received commands. A driver that has not counted these commands
        // counts nothing.
        guard let counters = kernelLinks.counters(of: adapter), counters.commandsSent > 0,
            counters.bytesSent > 0
        else { return nil }
        self.adapter = adapter
        self.kernelLinks = kernelLinks
        self.reporter = reporter
        timer = CompletionTimer(in: turns)
        estimate = CompletionEstimate(counters, room: kernelLinks.room(of: adapter), at: .now)
    }

    var completionReporting: CompletionReporting { .estimated }

    func willSend(_ update: BackendUpdate, to centrals: [Central.ID]) {
        // An indication ends when it is confirmed. Its packet is offset against the confirmation.
        guard !update.awaitsConfirmation else {
            for _ in centrals { estimate.asked() }
            return
        }
        guard !centrals.isEmpty else { return }
        inFlight.given(update.id, of: update.characteristic, for: centrals)
        if estimate.isHostEmpty { readCounters() }
        for central in centrals {
            let delivery = CompletionEstimate.Delivery(
                update: update.id,
                attribute: update.characteristic,
                central: central
            )
            estimate.given(delivery, size: update.value.count, at: .now)
        }
        readCountersLater(after: Self.shortestInterval)
    }

    func withdraw(_ update: BackendUpdate.ID) {
        estimate.withdraw(update)
        inFlight.withdraw(update)
    }

    func taken(_ update: BackendUpdate.ID, _ outcome: BackendUpdateOutcome) {
        if case .failed = outcome { estimate.withdraw(update) }
        report([inFlight.taken(update, outcome)])
    }

    func received(_ request: CompletionPace.Request, from central: Central.ID) {
        estimate.asked()
    }

    func confirmed(_ update: BackendUpdate.ID) {}

    func disconnected(_ central: Central.ID) {
        let completed = estimate.settled(central)
        report(
            inFlight.settled(central) + completed.map { inFlight.completed($0.attribute, for: $0.central) }
        )
    }

    func end() {
        timer.cancel()
    }

    private func report(_ events: [BackendEvent?]) {
        // Without a timer, the loop does not wake up a program that sends rarely.
        if inFlight.isEmpty { timer.cancel() }
        reporter.report(all: events)
    }

    private func readCountersLater(after interval: Duration) {
        guard !timer.isSet, !estimate.isEmpty else { return }
        timer.set(after: untilNextCompletion(atMost: interval)) { [weak self] in
            guard let self else { return }
            let hasCompleted = readCounters()
            let longest = estimate.isMeasuring(at: .now) ? Self.shortestInterval : Self.longestInterval
            readCountersLater(after: hasCompleted ? Self.shortestInterval : min(interval * 2, longest))
        }
    }

    private func untilNextCompletion(atMost interval: Duration) -> Duration {
        guard let completion = estimate.nextCompletion else { return interval }
        return min(interval, max(completion - .now, .milliseconds(1)))
    }

    /// Reads the total that the kernel has passed to the controller.
    ///
    /// - Returns: Whether any update now counts as completed.
    @discardableResult
    private func readCounters() -> Bool {
        guard let counters = kernelLinks.counters(of: adapter) else { return false }
        let completed = estimate.sent(counters, at: .now)
        if completed.isEmpty { return false }
        report(completed.map { inFlight.completed($0.attribute, for: $0.central) })
        return true
    }
}
