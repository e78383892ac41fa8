internal import PeripheralDBus
internal import PeripheralKit

/// When updates count as having left, where nothing tells what the adapter sends.
extension Centrals {
    func beginPace() {
        tracking.pace = fallbackRate.interval.map { CompletionPace(interval: $0) }
    }

    /// Takes note that bluetoothd is being given an update.
    func willSlowlyDepart(_ update: Update, for centrals: [Central.ID]) {
        guard !update.awaitsConfirmation else {
            // Of several, some may have asked for notifications, and confirm nothing.
            guard centrals.count == 1, let central = centrals.first else { return }
            tracking.pace?.indicated(update.id, to: central, unread: mostUnread(by: central), at: .now)
            return
        }
        let late = centrals.filter { central in
            let delivery = CompletionPace.Delivery(
                update: update.id,
                attribute: update.characteristic,
                central: central
            )
            return tracking.pace?.given(delivery, at: .now) == false
        }
        guard !late.isEmpty else { return }
        tracking.inFlight.given(update.id, of: update.characteristic, for: late)
        leaveLater()
    }

    /// Takes note of a request of a central.
    func asked(_ request: CompletionPace.Request, by central: Central.ID) {
        tracking.estimate?.asked()
        guard tracking.pace != nil else { return }
        tracking.pace?.asked(request, by: central, unread: mostUnread(by: central), at: .now)
        leave()
    }

    /// Takes note that an indication is confirmed.
    func arrived(_ update: Update.ID) {
        guard tracking.pace != nil else { return }
        tracking.pace?.confirmed(update, at: .now)
        leave()
    }

    /// How many updates for a central bluetoothd may not have read yet.
    private func mostUnread(by central: Central.ID) -> Int {
        sockets.reduce(0) { $0 + ($1.key.central == central ? $1.value.mostUnread : 0) }
    }

    private func leave() {
        let departed = tracking.pace?.completed(at: .now) ?? []
        reportDepartures(departed.map { tracking.inFlight.completed($0.attribute, for: $0.central) })
        leaveLater()
    }

    private func leaveLater() {
        guard tracking.timer == nil, let next = tracking.pace?.nextCompletion else { return }
        tracking.timer = connection.loop.schedule(after: max(next - .now, .zero)) { [weak self] in
            self?.assumeIsolated { centrals in
                centrals.tracking.timer = nil
                centrals.leave()
            }
        }
    }
}
