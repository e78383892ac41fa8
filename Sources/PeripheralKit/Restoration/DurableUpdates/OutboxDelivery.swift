internal import PeripheralCore
private import Synchronization

/// Sends the updates of the ``Outbox`` to connected subscribers in order, and removes completed updates.
///
/// Updates that have not completed when their central disconnects or the program ends are sent again. If the
/// stack cannot reach each subscriber alone, a value that is retained for several subscribers is sent once to
/// all subscribers.
final class OutboxDelivery: Sendable {
    /// The delay before a failed update is tried again, for example on a link that is not encrypted yet.
    private static let retryDelay = Duration.seconds(1)
    private let preservation: Preservation
    private let updates: UpdateSender
    private let limits: [AttributeHandle: Int]
    private let stopwatch: Stopwatch
    private let wakeup: Wakeup
    private let state = Mutex(State())

    fileprivate struct State {
        var deliveries: [Way: Progress] = [:]
        var isOffTheAir = true
        var isStopped = false
    }

    /// - Parameters:
    ///   - preservation: The owner of the outbox.
    ///   - limits: The number of updates that are retained for each subscriber of a durable characteristic.
    ///   - updates: The sender of updates.
    ///   - clock: The clock for the retry delay.
    init(
        of preservation: Preservation,
        limits: [AttributeHandle: Int],
        by updates: UpdateSender,
        clock: any Clock<Duration>
    ) {
        self.preservation = preservation
        wakeup = preservation.outboxWakeup
        self.limits = limits
        self.updates = updates
        stopwatch = Stopwatch(clock)
    }

    // MARK: For senders

    /// Retains an update for its subscribers until it is sent.
    ///
    /// - Parameters:
    ///   - value: The new value.
    ///   - characteristic: The characteristic, by its value handle.
    /// - Returns: Whether the update is retained; `nil` when updates of the characteristic are not durable.
    func post(_ value: [UInt8], of characteristic: AttributeHandle) -> Bool? {
        guard let limit = limits[characteristic] else { return nil }
        defer { wakeup.wake() }
        return preservation.post(value, of: characteristic, limit: limit)
    }

    /// Waits until there is room for an update.
    ///
    /// - Returns: `false` when updates of the characteristic are not durable.
    func ready(_ characteristic: AttributeHandle) async throws -> Bool {
        guard let limit = limits[characteristic] else { return false }
        try await preservation.untilRoom(of: characteristic, limit: limit)
        return true
    }

    /// Retains an update as soon as there is room, and waits until it is saved.
    ///
    /// - Returns: `false` when updates of the characteristic are not durable.
    func notify(_ value: [UInt8], of characteristic: AttributeHandle) async throws -> Bool {
        while let isKept = post(value, of: characteristic) {
            if isKept {
                try await preservation.flush()
                return true
            }
            // Unsaved updates continue to occupy room. If the store is broken, flushing throws instead of
            // waiting.
            try await preservation.flush()
            _ = try await ready(characteristic)
        }
        return false
    }

    // MARK: Sending

    /// Looks again for updates that can be sent.
    func wake() {
        wakeup.wake()
    }

    func stop() {
        state.withLock { $0.isStopped = true }
        wakeup.wake()
    }

    /// Handles a subscription, or a bonded central that returns to its subscription.
    func subscribed(_ subscription: Subscription) {
        guard let subscriber = Subscriber(subscription) else { return }
        state.withLock { state in
            if state.deliveries[subscriber.way] == nil, preservation.waitingUpdates.contains(subscriber.key) {
                state.deliveries[subscriber.way] = .again
            }
        }
    }

    /// Handles a disconnection.
    ///
    /// Values in flight to all subscribers have not reached the central.
    func disconnected(_ central: Central.ID) {
        state.withLock { state in
            for way in state.deliveries.keys where way.central == central { state.deliveries[way]?.missed() }
        }
    }

    /// Records that the peripheral is on the air.
    func published() {
        state.withLock { $0.isOffTheAir = false }
        wakeup.wake()
    }

    /// Records that the peripheral is off the air.
    ///
    /// The manner to reach a returning subscriber is determined again.
    func suspended() {
        state.withLock { state in
            state.isOffTheAir = true
            for way in state.deliveries.keys { state.deliveries[way]?.interrupted() }
        }
    }

    /// Sends until ``stop()``, or until the calling task is cancelled.
    ///
    /// - Parameter subscriptions: Returns the present subscriptions.
    func run(_ subscriptions: () -> [Subscription]) async {
        await withDiscardingTaskGroup { group in
            while canSend {
                let waiting = preservation.waitingUpdates
                let subscribers = subscriptions().compactMap(Subscriber.init).filter {
                    waiting.contains($0.key)
                }
                var seen: Set<AttributeHandle> = []
                for handle in subscribers.map(\.way.characteristic) where seen.insert(handle).inserted {
                    let subscribers = subscribers.filter { $0.way.characteristic == handle }
                    while canSend, let departure = begin(handle, to: subscribers) {
                        // Immediately, so that the values are queued in order.
                        group.addImmediateTask { await self.deliver(departure) }
                    }
                }
                await wakeup.wait()
            }
            group.cancelAll()
        }
    }

    /// Whether the calling task may still send.
    ///
    /// A cancelled task cannot wait for completion or a retry.
    private var canSend: Bool { !Task.isCancelled && !state.withLock(\.isStopped) }

    /// Returns the next update of a characteristic for some of these subscribers, and marks it as in flight.
    private func begin(_ characteristic: AttributeHandle, to subscribers: [Subscriber]) -> Departure? {
        let usual = updates.reachesEach(characteristic) ? Manner.alone : .together
        return state.withLock { state in
            guard !state.isOffTheAir else { return nil }
            // The first update that could not be sent to one of the subscribers.
            let refused = subscribers.filter { state.deliveries[$0.way]?.hasFailed == true }
                .compactMap { preservation.nextUpdate(for: $0.key, besides: [])?.post }.min()
            var together: [Departure.Part] = []
            for subscriber in subscribers {
                let delivery = state.deliveries[subscriber.way] ?? Progress()
                guard !delivery.hasFailed,
                    let entry = preservation.nextUpdate(for: subscriber.key, besides: delivery.numbers)
                else { continue }
                let hasPlace = delivery.hasPlace(for: subscriber)
                let part = Departure.Part(subscriber: subscriber, entry: entry, hasPlace: hasPlace)
                // A value for all would overtake the update that some subscribers still lack.
                let mustWait = refused.map { $0 <= entry.post } ?? false
                switch delivery.manner ?? (mustWait ? .alone : usual) {
                case .alone where hasPlace: return state.begin([part], .alone)
                case .together where !mustWait: together.append(part)
                case .alone, .together: continue
                }
            }
            // The oldest update is first, so that the newer update is then sent once to all subscribers.
            guard let first = together.min(by: { $0.entry.post < $1.entry.post }) else { return nil }
            let parts = together.filter {
                $0.entry.post == first.entry.post && $0.subscriber.kind == first.subscriber.kind
            }
            // Otherwise, some subscribers would receive the value again later, together with the subscribers
            // that have no room now.
            guard parts.allSatisfy(\.hasPlace),
                !subscribers.contains(where: {
                    state.deliveries[$0.way]?.isSendingAlone(upTo: first.entry.post) == true
                })
            else { return nil }
            return state.begin(parts, .together)
        }
    }

    private func deliver(_ departure: Departure) async {
        var failure: (any Error)?
        do {
            try await send(departure)
        } catch {
            failure = error
        }
        let failed = state.withLock { state in
            departure.parts.filter { part in
                let way = part.subscriber.way
                var delivery = state.deliveries[way] ?? Progress()
                // Inside the lock, so that no other task finds the update while it is recorded nowhere.
                preservation.sent(delivery.ended(part.entry.number, failure))
                state.deliveries[way] = delivery.next
                return delivery.isToBeTriedLater
            }
        }
        if !failed.isEmpty {
            wakeup.wake()
            try? await stopwatch.sleep(Self.retryDelay)
            state.withLock { state in
                for part in failed { state.deliveries[part.subscriber.way] = .again }
            }
        }
        wakeup.wake()
    }

    private func send(_ departure: Departure) async throws {
        let centrals = departure.parts.map(\.subscriber.way.central)
        guard let first = departure.parts.first, let central = centrals.first else { return }
        let (characteristic, value) = (first.entry.update.characteristic, first.entry.update.value)
        let (recipients, mustReach): (BackendUpdate.Recipients, Set<Central.ID>) =
            switch departure.manner {
            case .alone: (.central(central), [])
            case .together: (.subscribers, Set(centrals))
            }
        if first.subscriber.kind == .indication {
            try await updates.indicate(characteristic, value, to: recipients, mustReach: mustReach)
        } else {
            try await updates.notify(
                characteristic,
                value,
                to: recipients,
                untilLeft: true,
                mustReach: mustReach
            )
        }
    }
}

extension OutboxDelivery.State {
    fileprivate mutating func begin(
        _ parts: [OutboxDelivery.Departure.Part],
        _ manner: OutboxDelivery.Manner
    ) -> OutboxDelivery.Departure {
        for part in parts {
            deliveries[part.subscriber.way, default: OutboxDelivery.Progress()].begin(part.entry, manner)
        }
        return OutboxDelivery.Departure(parts: parts, manner: manner)
    }
}
