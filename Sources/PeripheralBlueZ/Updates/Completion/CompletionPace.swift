internal import PeripheralCore
internal import PeripheralKit

/// Decides which updates count as completed if nothing reports the packets that the adapter sends.
///
/// Updates count as completed at the speed of a slow link, or when the central has shown that they have
/// arrived. A central receives everything in order, so two signs show that earlier updates have arrived:
///
/// - The confirmation of an indication shows that all updates before the indication have arrived.
/// - A request shows that the response to the previous request has arrived, with all updates before that
///   response. A central has one request at a time (Core Specification, Vol 3, Part F, 3.3.2).
///
/// However, bluetoothd makes several calls for some requests, each for a different attribute (as in 3.4.4.7
/// and 3.4.6.3). Two calls are a sign only if they cannot belong to the same request.
///
/// The pace is a pure value. It receives updates and signs, and returns the completed updates.
struct CompletionPace {
    typealias Delivery = CompletionEstimate.Delivery

    /// A request of a central.
    struct Request: Hashable {
        enum Kind { case read, write }

        var kind: Kind
        var attribute: AttributeHandle
        /// Whether the call is the first part of the request, or the only part.
        var isFirst = true

        /// Returns whether both calls may be parts of one request of the central.
        func mayBelong(to other: Request) -> Bool {
            guard kind == other.kind else { return false }
            return attribute != other.attribute || kind == .write && !isFirst
        }
    }

    /// An event that will show that all updates before it have arrived.
    private struct Mark {
        enum Sign: Hashable {
            case request(Request)
            case indication(BackendUpdate.ID)
        }

        var sign: Sign
        /// The number of updates before the event.
        var count: Int
    }

    private struct Link {
        var central: Central.ID
        /// The updates that do not count as completed, in the order in which bluetoothd received them.
        var entries: [Delivery] = []
        /// The total number of updates that bluetoothd received.
        var given = 0
        /// The number of updates that are known to have arrived.
        var arrived = 0
        /// The estimated number of updates in flight at the time of the last change.
        var inFlight = 0
        var lastChange: ContinuousClock.Instant
        /// The numbers of updates that bluetoothd had received at two earlier moments.
        ///
        /// The moments are at least the gathering time apart.
        var before: (count: Int, time: ContinuousClock.Instant)
        var earlier = 0
        var lastGiven: ContinuousClock.Instant
        var marks: [Mark] = []
    }

    /// The number of updates that may be in flight to a central and count as completed.
    ///
    /// In addition, 16 updates that do not count as completed may be in flight.
    static let burst = 112
    /// The largest number of marks kept for a central.
    private static let mostMarks = 8
    /// The time after which bluetoothd has sent gathered notifications.
    ///
    /// bluetoothd delays notifications by 10 ms to send several in one packet to a central that supports
    /// this. It delays nothing else.
    private static let gatheringTime = Duration.milliseconds(15)

    /// The time that a slow link needs for a value.
    private let interval: Duration
    private let nanoseconds: Int
    private var links: [Link] = []

    init(interval: Duration) {
        self.interval = interval
        nanoseconds = max(interval.nanoseconds, 1)
    }

    /// The time when the next update counts as completed; `nil` if all updates are completed.
    var nextCompletion: ContinuousClock.Instant? {
        links.compactMap { link in
            guard !link.entries.isEmpty else { return nil }
            return link.lastChange + interval * max(link.inFlight - Self.burst - link.entries.count + 1, 0)
        }
        .min()
    }

    /// Records that bluetoothd receives an update for a central.
    ///
    /// - Returns: Whether the update counts as completed at once. If not, ``completed(at:)`` returns it
    ///   later.
    mutating func given(_ delivery: Delivery, at now: ContinuousClock.Instant) -> Bool {
        let index = index(of: delivery.central, at: now)
        carry(index, until: now)
        note(index, at: now)
        links[index].given += 1
        links[index].inFlight += 1
        links[index].lastGiven = now
        guard !links[index].entries.isEmpty || links[index].inFlight > Self.burst else { return true }
        links[index].entries.append(delivery)
        return false
    }

    /// Records that bluetoothd has not received an update.
    mutating func withdraw(_ update: BackendUpdate.ID) {
        for index in links.indices { links[index].entries.removeAll { $0.update == update } }
    }

    /// Records that a central has disconnected.
    mutating func settled(_ central: Central.ID) {
        links.removeAll { $0.central == central }
    }

    /// Records a request to which bluetoothd responds.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - central: The central that makes it.
    ///   - unread: The largest possible number of packets for the central that bluetoothd has not read yet.
    ///   - now: The time of the request.
    mutating func asked(
        _ request: Request,
        by central: Central.ID,
        unread: Int,
        at now: ContinuousClock.Instant
    ) {
        guard let index = links.firstIndex(where: { $0.central == central }) else { return }
        carry(index, until: now)
        let answered = links[index].marks.lastIndex { mark in
            guard case .request(let other) = mark.sign else { return false }
            return !request.mayBelong(to: other)
        }
        if let answered { arrived(index, answered) }
        mark(index, .request(request), unread, at: now)
    }

    /// Records that bluetoothd receives an indication.
    mutating func indicated(
        _ update: BackendUpdate.ID,
        to central: Central.ID,
        unread: Int,
        at now: ContinuousClock.Instant
    ) {
        guard let index = links.firstIndex(where: { $0.central == central }) else { return }
        mark(index, .indication(update), unread, at: now)
    }

    /// Records that all recipients of an indication have confirmed it.
    mutating func confirmed(_ update: BackendUpdate.ID, at now: ContinuousClock.Instant) {
        for index in links.indices {
            guard let mark = links[index].marks.firstIndex(where: { $0.sign == .indication(update) })
            else { continue }
            carry(index, until: now)
            arrived(index, mark)
        }
    }

    /// Returns the updates that have become completed since the last call.
    mutating func completed(at now: ContinuousClock.Instant) -> [Delivery] {
        var completed: [Delivery] = []
        for index in links.indices where !links[index].entries.isEmpty {
            carry(index, until: now)
            // The waiting updates are also in flight.
            let free = Self.burst - (links[index].inFlight - links[index].entries.count)
            let count = min(max(free, 0), links[index].entries.count)
            completed += links[index].entries.prefix(count)
            links[index].entries.removeFirst(count)
        }
        return completed
    }

    private mutating func index(of central: Central.ID, at now: ContinuousClock.Instant) -> Int {
        if let index = links.firstIndex(where: { $0.central == central }) { return index }
        links.append(Link(central: central, lastChange: now, before: (0, now), lastGiven: now))
        return links.count - 1
    }

    /// Subtracts the updates that a slow link has carried in the meantime.
    private mutating func carry(_ index: Int, until now: ContinuousClock.Instant) {
        guard links[index].inFlight > 0 else { return links[index].lastChange = now }
        let elapsed = (now - links[index].lastChange).nanoseconds
        // In nearly all calls, a slow link has carried less than one update.
        guard elapsed >= nanoseconds else { return }
        let count = min(elapsed / nanoseconds, links[index].inFlight)
        links[index].inFlight -= count
        links[index].lastChange =
            links[index].inFlight == 0 ? now : links[index].lastChange + interval * count
    }

    /// Records the number of updates from time to time.
    private mutating func note(_ index: Int, at now: ContinuousClock.Instant) {
        guard now - links[index].before.time >= Self.gatheringTime else { return }
        links[index].earlier = links[index].before.count
        links[index].before = (links[index].given, now)
    }

    private mutating func mark(
        _ index: Int,
        _ sign: Mark.Sign,
        _ unread: Int,
        at now: ContinuousClock.Instant
    ) {
        note(index, at: now)
        let isGathered = now - links[index].lastGiven >= Self.gatheringTime
        let gathered = isGathered ? links[index].given : links[index].earlier
        let mark = Mark(sign: sign, count: min(gathered, links[index].given - unread))
        let arrived = links[index].arrived
        links[index].marks.removeAll { $0.count <= arrived }
        if links[index].marks.count == Self.mostMarks { links[index].marks.removeFirst() }
        links[index].marks.append(mark)
    }

    /// Records that all updates before a mark have arrived.
    private mutating func arrived(_ index: Int, _ mark: Int) {
        links[index].arrived = max(links[index].arrived, links[index].marks[mark].count)
        links[index].inFlight = min(
            links[index].inFlight,
            max(links[index].given - links[index].arrived, 0)
        )
        links[index].marks.remove(at: mark)
    }
}

extension Duration {
    fileprivate var nanoseconds: Int {
        let (seconds, attoseconds) = components
        return Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    }
}
