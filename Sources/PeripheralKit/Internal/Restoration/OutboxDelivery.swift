internal import PeripheralCore
private import Synchronization

/// Sends what is in the ``Outbox`` to each subscriber that is there, in order, and drops what has left.
///
/// What has not when its central leaves, or when the program ends, is sent again.
final class OutboxDelivery: Sendable {
    /// How long to wait before an update is tried again that could not be sent, such as on a link not yet encrypted.
    private static let retryDelay = Duration.seconds(1)
    /// So many notifications to a subscriber may be on their way at a time.
    private static let notificationsAtATime = 16

    private let preservation: Preservation
    private let updates: UpdateSender
    private let limits: [AttributeHandle: Int]
    private let stopwatch: Stopwatch
    private let wakeup: Wakeup
    private let state = Mutex((deliveries: [Way: Delivery](), isStopped: false))

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

    /// Sends until ``stop()``.
    ///
    /// - Parameter subscriptions: Tells who has subscribed.
    func run(_ subscriptions: () -> [Subscription]) async {
        await withDiscardingTaskGroup { group in
            while !state.withLock(\.isStopped) {
                let waiting = preservation.waitingUpdates
                for subscription in subscriptions() {
                    guard let key = subscription.key, waiting.contains(key) else { continue }
                    while let entry = begin(key, to: subscription) {
                        // At once, so that they are queued in their order.
                        group.addImmediateTask { await self.deliver(entry, to: subscription) }
                    }
                }
                await wakeup.wait()
            }
            group.cancelAll()
        }
    }

    /// The next update that may be on its way to a subscriber; it is from now on.
    private func begin(_ key: Outbox.Key, to subscription: Subscription) -> Outbox.Entry? {
        state.withLock { state in
            let delivery = state.deliveries[subscription.way] ?? Delivery()
            guard !delivery.hasFailed,
                delivery.underWay < (subscription.kind == .indication ? 1 : Self.notificationsAtATime),
                let entry = preservation.nextUpdate(for: key, after: delivery.last)
            else { return nil }
            state.deliveries[subscription.way, default: delivery].begin(entry.number)
            return entry
        }
    }

    private func deliver(_ entry: Outbox.Entry, to subscription: Subscription) async {
        let way = subscription.way
        let isSent = (try? await send(entry.update, to: subscription)) != nil
        let (sent, isOver) = state.withLock { state in
            let sent = state.deliveries[way, default: Delivery()].ended(entry.number, isSent: isSent)
            return (sent, state.deliveries[way]?.isOver == true)
        }
        preservation.sent(sent)
        if isOver {
            try? await stopwatch.sleep(Self.retryDelay)
            state.withLock { $0.deliveries[way] = nil }
        }
        wakeup.wake()
    }

    private func send(_ update: PreservedUpdate, to subscription: Subscription) async throws {
        guard let central = subscription.central?.id else { throw PeripheralError.notSubscribed }
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
        let (characteristic, value) = (update.characteristic, update.value)
        if kind == .indication {
            try await updates.indicate(characteristic, value, to: recipients, reaching: centrals)
        } else {
            try await updates.notify(characteristic, value, to: recipients, untilLeft: true)
        }
    }
}

/// To whom updates of what are sent, by whatever address the central is known meanwhile.
private struct Way: Hashable {
    let characteristic: AttributeHandle
    let central: Central.ID?
}

/// The updates on their way to a subscriber, which count as sent when all before them have been.
private struct Delivery {
    private var entries: [(number: UInt64, isSent: Bool?)] = []
    /// The newest that was on its way.
    private(set) var last: UInt64 = 0
    /// Whether one was not sent: it and all after it are to be sent again.
    private(set) var hasFailed = false

    var underWay: Int { entries.count { $0.isSent == nil } }
    /// Whether it has failed, and nothing is under way any more.
    var isOver: Bool { hasFailed && underWay == 0 }

    mutating func begin(_ number: UInt64) {
        entries.append((number, nil))
        last = number
    }

    /// Takes note of what has become of one.
    ///
    /// - Returns: Those that have been sent, with all before them.
    mutating func ended(_ number: UInt64, isSent: Bool) -> [UInt64] {
        if let index = entries.firstIndex(where: { $0.number == number }) { entries[index].isSent = isSent }
        hasFailed = hasFailed || !isSent
        let sent = entries.prefix { $0.isSent == true }.map(\.number)
        entries.removeFirst(sent.count)
        return sent
    }
}

extension Subscription {
    fileprivate var way: Way { Way(characteristic: handle, central: central?.id) }

    /// Whose updates these are; `nil` for those whom the stack does not name.
    fileprivate var key: Outbox.Key? {
        central.map { Outbox.Key(characteristic: handle, address: $0.address) }
    }
}
