internal import PeripheralCore
internal import PeripheralKit

/// Which updates count as having left where nothing tells what the adapter sends: as many as a slow link would have carried,
/// and those of which the central has shown that they have arrived.
///
/// What a central is sent takes one way, in its order. So a confirmation shows that what was given before the indication has
/// arrived; and a request, that the response to the one before has, with all that was given before that: a central asks for one
/// thing at a time (Core Specification, Vol 3, Part F, 3.3.2). Some requests are several calls of bluetoothd, though, each for
/// an attribute of its own (as 3.4.4.7, 3.4.6.3): two calls show something only when they cannot be of the same one.
///
/// A pure value: what was given and heard in, what has left out.
struct CompletionPace {
    typealias Delivery = CompletionEstimate.Delivery

    /// What a central has asked for.
    struct Request: Hashable {
        enum Kind { case read, write }

        var kind: Kind
        var attribute: AttributeHandle
        /// Whether it is the first part, or the only one.
        var isFirst = true

        /// Whether both may be parts of one request of the central.
        func mayBelong(to other: Request) -> Bool {
            guard kind == other.kind else { return false }
            return attribute != other.attribute || kind == .write && !isFirst
        }
    }

    /// Something the end of which shows that what was given before has arrived.
    private struct Mark {
        enum Sign: Hashable {
            case request(Request)
            case indication(Update.ID)
        }

        var sign: Sign
        /// How many were given before.
        var count: Int
    }

    private struct Link {
        var central: Central.ID
        /// Those that do not count as having left, in their order.
        var entries: [Delivery] = []
        /// How many were given altogether.
        var given = 0
        /// How many of these have arrived for certain.
        var arrived = 0
        /// How many are on their way, as far as is known, at the time of the last change.
        var underWay = 0
        var lastChange: ContinuousClock.Instant
        /// How many were given until two earlier moments, which are the gathering time apart or more.
        var before: (count: Int, time: ContinuousClock.Instant)
        var earlier = 0
        var lastGiven: ContinuousClock.Instant
        var marks: [Mark] = []
    }

    /// As many may be on their way to a central, and 16 more that do not count as having left.
    static let burst = 112
    /// More marks of a central are not kept.
    private static let mostMarks = 8
    /// bluetoothd holds notifications back for 10 ms to send several in one packet to a central that takes that, but not
    /// what is no notification.
    private static let gatheringTime = Duration.milliseconds(15)

    /// The time that a slow link takes for a value.
    private let interval: Duration
    private let nanoseconds: Int
    private var links: [Link] = []

    init(interval: Duration) {
        self.interval = interval
        nanoseconds = max(interval.nanoseconds, 1)
    }

    /// When the next one counts as having left; `nil` when all have.
    var nextCompletion: ContinuousClock.Instant? {
        links.compactMap { link in
            guard !link.entries.isEmpty else { return nil }
            return link.lastChange + interval * max(link.underWay - Self.burst - link.entries.count + 1, 0)
        }
        .min()
    }

    /// Takes note that bluetoothd is being given an update for a central.
    ///
    /// - Returns: Whether it counts as having left at once; otherwise it is in what ``left(at:)`` returns later.
    mutating func given(_ delivery: Delivery, at now: ContinuousClock.Instant) -> Bool {
        let index = index(of: delivery.central, at: now)
        carry(index, until: now)
        note(index, at: now)
        links[index].given += 1
        links[index].underWay += 1
        links[index].lastGiven = now
        guard !links[index].entries.isEmpty || links[index].underWay > Self.burst else { return true }
        links[index].entries.append(delivery)
        return false
    }

    /// Takes note that bluetoothd has not been given an update after all.
    mutating func withdraw(_ update: Update.ID) {
        for index in links.indices { links[index].entries.removeAll { $0.update == update } }
    }

    /// Takes note that a central is gone.
    mutating func settled(_ central: Central.ID) {
        links.removeAll { $0.central == central }
    }

    /// Takes note of a request that bluetoothd responds to.
    ///
    /// - Parameters:
    ///   - request: What a central asks for.
    ///   - central: Which one.
    ///   - unread: How many packets for it bluetoothd may not have read yet.
    ///   - now: When that is.
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

    /// Takes note that bluetoothd is being given an indication.
    mutating func indicated(
        _ update: Update.ID,
        to central: Central.ID,
        unread: Int,
        at now: ContinuousClock.Instant
    ) {
        guard let index = links.firstIndex(where: { $0.central == central }) else { return }
        mark(index, .indication(update), unread, at: now)
    }

    /// Takes note that all who were given an indication have confirmed it.
    mutating func confirmed(_ update: Update.ID, at now: ContinuousClock.Instant) {
        for index in links.indices {
            guard let mark = links[index].marks.firstIndex(where: { $0.sign == .indication(update) })
            else { continue }
            carry(index, until: now)
            arrived(index, mark)
        }
    }

    /// What counts as having left by now, and has not before.
    mutating func completed(at now: ContinuousClock.Instant) -> [Delivery] {
        var completed: [Delivery] = []
        for index in links.indices where !links[index].entries.isEmpty {
            carry(index, until: now)
            // Those that wait are among those on their way.
            let free = Self.burst - (links[index].underWay - links[index].entries.count)
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

    /// A slow link has carried some meanwhile.
    private mutating func carry(_ index: Int, until now: ContinuousClock.Instant) {
        guard links[index].underWay > 0 else { return links[index].lastChange = now }
        let elapsed = (now - links[index].lastChange).nanoseconds
        // For nearly all, not even one.
        guard elapsed >= nanoseconds else { return }
        let count = min(elapsed / nanoseconds, links[index].underWay)
        links[index].underWay -= count
        links[index].lastChange =
            links[index].underWay == 0 ? now : links[index].lastChange + interval * count
    }

    /// Notes from time to time how many were given.
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

    /// What was given before a mark has arrived.
    private mutating func arrived(_ index: Int, _ mark: Int) {
        links[index].arrived = max(links[index].arrived, links[index].marks[mark].count)
        links[index].underWay = min(
            links[index].underWay,
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
