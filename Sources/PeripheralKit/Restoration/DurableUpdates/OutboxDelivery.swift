internal import PeripheralCore
private import Synchronization

/// Sends what is in the ``Outbox`` to each subscriber that is there, in order, and drops what has left.
///
/// What has not when its central leaves, or when the program ends, is sent again. Where the stack cannot reach each
/// subscriber alone, a value goes once to all, for all of those for whom it is kept.
final class OutboxDelivery: Sendable {
    /// How long to wait before an update is tried again that could not be sent, such as on a link not yet encrypted.
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
    ///   - preservation: Where the outbox is.
    ///   - limits: How many updates of a characteristic are kept for each of its subscribers; only of these are any kept.
    ///   - updates: What sends them.
    ///   - clock: What measures the time until one is tried again.
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

    // MARK: For those who send

    /// Keeps an update for its subscribers until it is sent.
    ///
    /// - Parameters:
    ///   - value: The new value.
    ///   - characteristic: The characteristic, by its value handle.
    /// - Returns: Whether it is kept; `nil` when updates of the characteristic are not.
    func post(_ value: [UInt8], of characteristic: AttributeHandle) -> Bool? {
        guard let limit = limits[characteristic] else { return nil }
        defer { wakeup.wake() }
        return preservation.post(value, of: characteristic, limit: limit)
    }

    /// Waits until there is room for an update.
    ///
    /// - Returns: `false` when updates of the characteristic are not kept.
    func ready(_ characteristic: AttributeHandle) async throws -> Bool {
        guard let limit = limits[characteristic] else { return false }
        try await preservation.untilRoom(of: characteristic, limit: limit)
        return true
    }

    /// Keeps an update as soon as there is room for it, and waits until it is preserved.
    ///
    /// - Returns: `false` when updates of the characteristic are not kept.
    func notify(_ value: [UInt8], of characteristic: AttributeHandle) async throws -> Bool {
        while let isKept = post(value, of: characteristic) {
            if isKept {
                try await preservation.flush()
                return true
            }
            // What waits to be saved gives no room before: nobody can wait for a store that is broken.
            try await preservation.flush()
            _ = try await ready(characteristic)
        }
        return false
    }

    // MARK: Sending

    /// Looks again for what can be sent.
    func wake() {
        wakeup.wake()
    }

    func stop() {
        state.withLock { $0.isStopped = true }
        wakeup.wake()
    }

    /// Takes note that a central has subscribed, or was subscribed when it came back.
    func subscribed(_ subscription: Subscription) {
        guard let receiver = Receiver(subscription) else { return }
        state.withLock { state in
            if state.deliveries[receiver.way] == nil, preservation.waitingUpdates.contains(receiver.key) {
                state.deliveries[receiver.way] = .afresh
            }
        }
    }

    /// Takes note that a central is gone: what is under way to all has missed it, whomever else it reaches.
    func disconnected(_ central: Central.ID) {
        state.withLock { state in
            for way in state.deliveries.keys where way.central == central { state.deliveries[way]?.missed() }
        }
    }

    /// Takes note that there is a way to the subscribers.
    func published() {
        state.withLock { $0.isOffTheAir = false }
        wakeup.wake()
    }

    /// Takes note that everybody is gone: how a subscriber is reached is found out anew once it is back.
    func suspended() {
        state.withLock { state in
            state.isOffTheAir = true
            for way in state.deliveries.keys { state.deliveries[way]?.interrupted() }
        }
    }

    /// Sends until ``stop()``, or until the calling task is cancelled, which can send nothing any more.
    ///
    /// - Parameter subscriptions: Tells who has subscribed.
    func run(_ subscriptions: () -> [Subscription]) async {
        await withDiscardingTaskGroup { group in
            while canSend {
                let waiting = preservation.waitingUpdates
                let receivers = subscriptions().compactMap(Receiver.init).filter { waiting.contains($0.key) }
                var seen: Set<AttributeHandle> = []
                for handle in receivers.map(\.way.characteristic) where seen.insert(handle).inserted {
                    let subscribers = receivers.filter { $0.way.characteristic == handle }
                    while canSend, let departure = begin(handle, to: subscribers) {
                        // At once, so that they are queued in their order.
                        group.addImmediateTask { await self.deliver(departure) }
                    }
                }
                await wakeup.wait()
            }
            group.cancelAll()
        }
    }

    /// Whether the calling task may have something sent: in one that is cancelled, nothing waits, neither for its end nor for another
    /// attempt.
    private var canSend: Bool { !Task.isCancelled && !state.withLock(\.isStopped) }

    /// The next update of a characteristic that may be on its way to some of these; it is from now on.
    private func begin(_ characteristic: AttributeHandle, to receivers: [Receiver]) -> Departure? {
        let usual = updates.reachesEach(characteristic) ? Manner.alone : .together
        return state.withLock { state in
            guard !state.isOffTheAir else { return nil }
            // The first that some lack to whom it could not be sent.
            let refused = receivers.filter { state.deliveries[$0.way]?.hasFailed == true }
                .compactMap { preservation.nextUpdate(for: $0.key, besides: [])?.post }.min()
            var together: [Departure.Part] = []
            for receiver in receivers {
                let delivery = state.deliveries[receiver.way] ?? Progress()
                guard !delivery.hasFailed,
                    let entry = preservation.nextUpdate(for: receiver.key, besides: delivery.numbers)
                else { continue }
                let hasPlace = delivery.hasPlace(for: receiver)
                let part = Departure.Part(receiver: receiver, entry: entry, hasPlace: hasPlace)
                // To all, it would overtake what they lack.
                let mustWait = refused.map { $0 <= entry.post } ?? false
                switch delivery.manner ?? (mustWait ? .alone : usual) {
                case .alone where hasPlace: return state.begin([part], .alone)
                case .together where !mustWait: together.append(part)
                case .alone, .together: continue
                }
            }
            // The oldest first, so that the newer one then goes once to all.
            guard let first = together.min(by: { $0.entry.post < $1.entry.post }) else { return nil }
            let parts = together.filter {
                $0.entry.post == first.entry.post && $0.receiver.kind == first.receiver.kind
            }
            // Otherwise, some would get it again with those who have no place yet, or may not be reached alone after all.
            guard parts.allSatisfy(\.hasPlace),
                !receivers.contains(where: {
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
                let way = part.receiver.way
                var delivery = state.deliveries[way] ?? Progress()
                // While nobody looks for the next: what is known nowhere any more would be found there.
                preservation.sent(delivery.ended(part.entry.number, failure))
                state.deliveries[way] = delivery.next
                return delivery.isToBeTriedLater
            }
        }
        if !failed.isEmpty {
            wakeup.wake()
            try? await stopwatch.sleep(Self.retryDelay)
            state.withLock { state in
                for part in failed { state.deliveries[part.receiver.way] = .afresh }
            }
        }
        wakeup.wake()
    }

    private func send(_ departure: Departure) async throws {
        let centrals = departure.parts.map(\.receiver.way.central)
        guard let first = departure.parts.first, let central = centrals.first else { return }
        let (characteristic, value) = (first.entry.update.characteristic, first.entry.update.value)
        let (recipients, mustReach): (Update.Recipients, Set<Central.ID>) =
            switch departure.manner {
            case .alone: (.central(central), [])
            case .together: (.subscribers, Set(centrals))
            }
        if first.receiver.kind == .indication {
            try await updates.indicate(
                characteristic,
                value,
                to: recipients,
                reaching: centrals,
                mustReach: mustReach
            )
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
            deliveries[part.receiver.way, default: OutboxDelivery.Progress()].begin(part.entry, manner)
        }
        return OutboxDelivery.Departure(parts: parts, manner: manner)
    }
}
