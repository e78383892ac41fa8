internal import PeripheralCore
private import Synchronization

/// Sends what is in the ``Outbox`` to each subscriber that is there, in order, and drops what has been sent.
///
/// An update that is being sent when the program is killed is sent again by the next run.
final class OutboxDelivery: Sendable {
    /// How long to wait before an update is tried again that could not be sent, such as on a link not yet encrypted.
    private static let retryDelay = Duration.seconds(1)

    private let preservation: Preservation
    private let updates: UpdateSender
    private let stopwatch: Stopwatch
    private let wakeup = Wakeup()
    private let state = Mutex((busy: Set<Outbox.Key>(), isStopped: false))

    init(of preservation: Preservation, by updates: UpdateSender, clock: any Clock<Duration>) {
        self.preservation = preservation
        self.updates = updates
        stopwatch = Stopwatch(clock)
    }

    /// Looks again for what can be sent.
    func wake() {
        wakeup.wake()
    }

    func stop() {
        state.withLock { $0.isStopped = true }
        wakeup.wake()
    }

    /// Sends until ``stop()``.
    ///
    /// - Parameter subscriptions: Tells who has subscribed.
    func run(_ subscriptions: () -> [Subscription]) async {
        await withDiscardingTaskGroup { group in
            while !state.withLock(\.isStopped) {
                for (key, subscription) in due(subscriptions()) {
                    group.addTask { await self.deliver(key, to: subscription) }
                }
                await wakeup.wait()
            }
            group.cancelAll()
        }
    }

    /// Whose updates wait, who is there, and whom nobody is sending to; they count as busy from now on.
    private func due(_ subscriptions: [Subscription]) -> [(Outbox.Key, Subscription)] {
        let waiting = preservation.waitingUpdates
        return state.withLock { state in
            waiting.subtracting(state.busy).compactMap { key in
                let subscription = subscriptions.first {
                    $0.handle == key.characteristic && $0.central?.address == key.address
                }
                guard let subscription else { return nil }
                state.busy.insert(key)
                return (key, subscription)
            }
        }
    }

    private func deliver(_ key: Outbox.Key, to subscription: Subscription) async {
        while let entry = preservation.nextUpdate(for: key) {
            do {
                try await send(entry.update, to: subscription)
            } catch {
                try? await stopwatch.sleep(Self.retryDelay)
                break
            }
            preservation.sent(entry.number)
        }
        state.withLock { _ = $0.busy.remove(key) }
        wakeup.wake()
    }

    private func send(_ update: PreservedUpdate, to subscription: Subscription) async throws {
        guard let central = subscription.central?.id else { return }
        do {
            try await send(update, as: subscription.kind, to: .central(central), reaching: [central])
        } catch let error as PeripheralError where error.code == .notAddressable {
            // Others who have subscribed get it as well, rather than that nobody does.
            try await send(update, as: subscription.kind, to: .subscribers, reaching: [central])
        }
    }

    private func send(
        _ update: PreservedUpdate,
        as kind: UpdateKind?,
        to recipients: Update.Recipients,
        reaching centrals: [Central.ID]
    ) async throws {
        if kind == .indication {
            try await updates.indicate(
                update.characteristic,
                update.value,
                to: recipients,
                reaching: centrals
            )
        } else {
            try await updates.notify(update.characteristic, update.value, to: recipients)
        }
    }
}
