internal import PeripheralDBus
internal import PeripheralKit

/// When updates have probably left, where a program may not see them leave.
extension Centrals {
    /// How often the adapter is asked what it has sent while it is sending, and while it is not.
    private static let (shortestInterval, longestInterval) = (
        Duration.milliseconds(4), Duration.milliseconds(64)
    )

    func beginEstimate(of adapter: ObjectPath) {
        // An adapter that is on has been given commands: a driver that has not counted them counts nothing.
        guard let counters = kernelLinks.counters(of: adapter), counters.commandsSent > 0,
            counters.bytesSent > 0
        else { return }
        tracking.estimate = CompletionEstimate(counters, at: .now)
    }

    /// Takes note that bluetoothd is being given an update.
    func willProbablyDepart(_ update: Update, for centrals: [Central.ID]) {
        // An indication ends when it is confirmed, and its packet is set off against the confirmation.
        guard !update.awaitsConfirmation else {
            for _ in centrals { tracking.estimate?.asked() }
            return
        }
        guard !centrals.isEmpty else { return }
        tracking.inFlight.given(update.id, of: update.characteristic, for: centrals)
        if tracking.estimate?.isEmpty == true { noteWhatWasSent() }
        for central in centrals {
            let delivery = CompletionEstimate.Delivery(
                update: update.id,
                attribute: update.characteristic,
                central: central
            )
            tracking.estimate?.given(delivery, size: update.value.count, at: .now)
        }
        noteLater(after: Self.shortestInterval)
    }

    private func noteLater(after interval: Duration) {
        guard tracking.timer == nil, tracking.estimate?.isEmpty == false else { return }
        tracking.timer = connection.loop.schedule(after: interval) { [weak self] in
            self?.assumeIsolated { centrals in
                centrals.tracking.timer = nil
                let hasMoved = centrals.noteWhatWasSent()
                let isBusy = hasMoved || centrals.tracking.estimate?.isMeasuring == true
                let next = isBusy ? Self.shortestInterval : min(interval * 2, Self.longestInterval)
                centrals.noteLater(after: next)
            }
        }
    }

    /// Asks the adapter what it has sent.
    ///
    /// - Returns: Whether something counts as having left.
    @discardableResult
    private func noteWhatWasSent() -> Bool {
        guard let adapter, let counters = kernelLinks.counters(of: adapter),
            let departed = tracking.estimate?.sent(counters, at: .now), !departed.isEmpty
        else { return false }
        reportDepartures(departed.map { tracking.inFlight.completed($0.attribute, for: $0.central) })
        return true
    }
}
