internal import PeripheralCore

/// Decides which retained update is queued next, and by which route it is sent.
///
/// The updates of a subscriber are sent in order. Updates that have not completed when their central
/// disconnects or the program ends are sent again. If the stack cannot reach each subscriber alone, a value
/// that is retained for several subscribers is sent once to all subscribers.
struct RetainedDelivery {
    /// The route by which an update is sent to a subscriber.
    enum Route {
        case alone
        /// The backend sends the value to all subscribers together.
        ///
        /// For some of the subscribers, the value might not be retained. The backend nevertheless sends the
        /// value to all subscribers.
        case together
    }

    /// A characteristic and a subscriber, independent of changes of its address.
    struct SubscriptionID: Hashable {
        let characteristic: AttributeHandle
        let central: Central.ID
    }

    /// A connected subscriber.
    struct Subscriber {
        let id: SubscriptionID
        let key: Outbox.Key
        let kind: UpdateKind?

        /// The maximum number of updates that are queued or in flight for the subscriber.
        var placeCount: Int { kind == .indication ? 1 : 16 }
    }

    /// The update of one subscriber for which a value is retained.
    struct Part {
        let subscriber: Subscriber
        let entry: Outbox.Entry
        /// Whether one more update may be queued for this subscriber.
        let hasPlace: Bool
    }

    /// A value to queue.
    struct NextUpdate {
        /// A value that is not sent to all together has one part.
        let parts: [Part]
        let route: Route
    }

    /// The delay before a failed update is tried again, for example on a link that is not encrypted yet.
    static let retryDelay = Duration.seconds(1)

    private var progress: [SubscriptionID: RetainedProgress] = [:]
    /// The subscribers that have just subscribed.
    private var returning: [SubscriptionID] = []
    /// The subscribers to which a failed update must be sent again after the delay.
    private var failed: [SubscriptionID] = []
    /// The subscribers for which updates are tried again, and the times for that.
    private var retries: [(due: Duration, id: SubscriptionID)] = []

    /// Handles a subscription, or a bonded central that returns to its subscription.
    mutating func subscribed(_ id: SubscriptionID) {
        if !returning.contains(id) { returning.append(id) }
    }

    /// Handles the end of a subscription.
    mutating func unsubscribed(_ id: SubscriptionID) {
        returning.removeAll { $0 == id }
    }

    /// Records that values in flight to all subscribers have not reached a central.
    mutating func missed(_ central: Central.ID) {
        for id in progress.keys where id.central == central { progress[id]?.missed() }
    }

    /// Records that the stack is unavailable.
    ///
    /// The route to reach a returning subscriber is determined again.
    mutating func interrupted() {
        for id in progress.keys { progress[id]?.interrupted() }
    }

    /// Returns the next update of a characteristic for some of these subscribers, and marks it as queued.
    ///
    /// - Parameters:
    ///   - subscribers: The subscribers of the characteristic.
    ///   - usual: The route by which values for all are sent.
    ///   - source: The retained updates.
    /// - Returns: The update; `nil` if all updates must wait, or there is none.
    mutating func next(
        for subscribers: [Subscriber],
        usually usual: Route,
        from source: Preservation
    ) -> NextUpdate? {
        guard !subscribers.isEmpty else { return nil }
        let oldest = source.nextUpdates(for: subscribers.map { ($0.key, []) })
        // The first update that could not be sent to one of the subscribers.
        var refused: UInt64?
        for (index, id) in subscribers.map(\.id).enumerated() {
            let post = oldest[index]?.post
            if let position = returning.firstIndex(of: id) {
                returning.remove(at: position)
                if progress[id] == nil, post != nil { progress[id] = .again }
            }
            if let post, progress[id]?.hasFailed == true { refused = min(refused ?? post, post) }
        }
        let entries = source.nextUpdates(
            for: subscribers.map { ($0.key, progress[$0.id]?.numbers ?? []) }
        )
        var together: [Part] = []
        for (index, subscriber) in subscribers.enumerated() {
            let progress = progress[subscriber.id] ?? RetainedProgress()
            guard let entry = entries[index], !progress.hasFailed else { continue }
            let hasPlace = progress.hasPlace(for: subscriber)
            let part = Part(subscriber: subscriber, entry: entry, hasPlace: hasPlace)
            // A value for all would overtake the update that some subscribers still lack.
            let mustWait = refused.map { $0 <= entry.post } ?? false
            switch progress.route ?? (mustWait ? .alone : usual) {
            case .alone where hasPlace: return begin([part], .alone)
            case .together where !mustWait: together.append(part)
            case .alone, .together: continue
            }
        }
        // The oldest update is first, so that the newer update is then sent once to all subscribers.
        guard let first = together.min(by: { $0.entry.post < $1.entry.post }) else { return nil }
        let parts = together.filter {
            $0.entry.post == first.entry.post && $0.subscriber.kind == first.subscriber.kind
        }
        // Otherwise, some subscribers would receive the value again later, together with the subscribers that
        // have no room now.
        guard parts.allSatisfy(\.hasPlace),
            !subscribers.contains(where: {
                progress[$0.id]?.isSendingAlone(upTo: first.entry.post) == true
            })
        else { return nil }
        return begin(parts, .together)
    }

    private mutating func begin(_ parts: [Part], _ route: Route) -> NextUpdate {
        for part in parts {
            progress[part.subscriber.id, default: RetainedProgress()].begin(part.entry, route)
        }
        return NextUpdate(parts: parts, route: route)
    }

    /// Records the outcome of an update.
    ///
    /// - Returns: The updates that have been sent, and whose earlier updates have all been sent.
    mutating func ended(_ parts: [Part], _ error: PeripheralError?) -> [UInt64] {
        parts.flatMap { part in
            let id = part.subscriber.id
            var progress = progress[id] ?? RetainedProgress()
            let sent = progress.ended(part.entry.number, error)
            self.progress[id] = progress.next
            if progress.isToBeTriedLater { failed.append(id) }
            return sent
        }
    }

    // MARK: Time

    /// Begins the delay of the subscribers whose updates have failed.
    ///
    /// - Returns: The end of the delay; `nil` if no update has failed.
    mutating func delayFailed(from now: () -> Duration) -> Duration? {
        guard !failed.isEmpty else { return nil }
        let due = now() + Self.retryDelay
        retries += failed.map { (due, $0) }
        failed = []
        return due
    }

    /// The time of the next retry.
    var nextRetry: Duration? { retries.first?.due }

    /// Lets updates be sent again whose delay is over.
    ///
    /// - Returns: Whether there are such updates.
    mutating func retry(at now: Duration) -> Bool {
        let due = retries.prefix { $0.due <= now }
        for retry in due { progress[retry.id] = .again }
        retries.removeFirst(due.count)
        return !due.isEmpty
    }
}
