internal import PeripheralCore

/// The retained updates that are queued or in flight for a subscriber.
///
/// An update counts as sent when all earlier updates have been sent.
struct RetainedProgress {
    private struct Item {
        let number: UInt64
        let post: UInt64
        let route: RetainedDelivery.Route
        var isSent: Bool?
        /// Whether the central disconnected meanwhile, so that a completed value did not reach it.
        var hasMissed = false
        /// Whether the stack was unavailable meanwhile, so that a failure does not depend on the route.
        var isInterrupted = false
    }

    private var items: [Item] = []
    /// How updates are sent to the subscriber; `nil` for the usual route.
    private(set) var route: RetainedDelivery.Route?
    /// Whether an update was not sent, so that this update and all later updates must be sent again.
    private(set) var hasFailed = false
    /// Whether only one update is in flight at a time until an update has been sent.
    ///
    /// If a link is about to be encrypted, the first update may be refused, and later updates would
    /// overtake it.
    private var isCautious = false
    /// Whether a failed update was in flight when the stack became unavailable, so that earlier knowledge
    /// is invalid.
    private var isInterrupted = false
    /// The route by which a failed update may still be sent.
    private var alternative: RetainedDelivery.Route?

    /// The progress of a subscriber that has returned, or after a failure.
    static var again: RetainedProgress {
        var progress = RetainedProgress()
        progress.isCautious = true
        return progress
    }

    var numbers: [UInt64] { items.map(\.number) }
    private var inFlightCount: Int { items.count { $0.isSent == nil } }
    /// Whether an update has failed and no update is in flight any more.
    private var isOver: Bool { hasFailed && inFlightCount == 0 }

    /// Whether a failed update must be sent again after a delay.
    var isToBeTriedLater: Bool { isOver && next?.hasFailed == true }

    /// The next progress; `nil` if no update is in flight and updates are sent by the usual route.
    var next: RetainedProgress? {
        if items.isEmpty, !hasFailed { return nil }
        if isOver, isInterrupted { return nil }
        guard isOver, route == nil, let alternative else { return self }
        var next = RetainedProgress.again
        next.route = alternative
        return next
    }

    /// Whether one more update may be in flight.
    func hasPlace(for subscriber: RetainedDelivery.Subscriber) -> Bool {
        inFlightCount < (isCautious ? 1 : subscriber.placeCount)
    }

    /// Whether a value of this or an earlier post is in flight to this subscriber alone.
    func isSendingAlone(upTo post: UInt64) -> Bool {
        items.contains { $0.post <= post && $0.route == .alone && $0.isSent == nil }
    }

    mutating func begin(_ entry: Outbox.Entry, _ route: RetainedDelivery.Route) {
        items.append(Item(number: entry.number, post: entry.post, route: route))
    }

    /// Records that values in flight to all did not reach this subscriber.
    mutating func missed() {
        for index in items.indices where items[index].route == .together {
            items[index].hasMissed = true
        }
    }

    /// Records that the stack is unavailable, so that all values in flight are lost.
    mutating func interrupted() {
        for index in items.indices where items[index].isSent == nil { items[index].isInterrupted = true }
    }

    /// Records the outcome of an update.
    ///
    /// - Returns: The updates that have been sent, and whose earlier updates have all been sent.
    mutating func ended(_ number: UInt64, _ error: PeripheralError?) -> [UInt64] {
        guard let index = items.firstIndex(where: { $0.number == number }) else { return [] }
        items[index].isSent = error == nil && !items[index].hasMissed
        if items[index].isSent == false, !hasFailed {
            hasFailed = true
            isInterrupted = items[index].isInterrupted
            alternative = items[index].route.alternative(after: error)
        }
        if items[index].isSent == true { isCautious = false }
        let sent = items.prefix { $0.isSent == true }.map(\.number)
        items.removeFirst(sent.count)
        return sent
    }
}

extension RetainedDelivery.Route {
    /// The other route to reach a subscriber: alone or together with all.
    ///
    /// A subscriber is reached alone if another subscriber prevents a value for all.
    fileprivate func alternative(after error: PeripheralError?) -> Self? {
        switch self {
        case .alone: error?.code == .notAddressable ? .together : nil
        case .together: error?.meansAbsence == true ? .alone : nil
        }
    }
}
