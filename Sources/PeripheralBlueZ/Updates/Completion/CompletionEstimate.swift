internal import PeripheralCore
internal import PeripheralKit

/// Which updates have probably left, by what the adapter has sent altogether.
///
/// An update counts as having left when the adapter has sent as many packets and as many bytes as it and those before it
/// have, to whomever. Either number alone would run away: an update may take several packets, of a size that the kernel does
/// not tell, and responses are sent as well, of any size: ``Responses`` tells how many. When there were fewer, and when bluetoothd
/// has not sent an update at all, nothing moves any more although something is missing: after a time of silence, it counts as
/// having left.
///
/// A silence may also be that of a link on which nothing comes through. What counts as having left by a silence alone is
/// owed, therefore: what is sent next is taken for that. When as much is sent as is given next, and no more, what was owed was
/// not there. The time doubles with each silence, so that only a few follow one another until the link is lost.
///
/// A pure value: what was given and sent in, what has left out.
struct CompletionEstimate {
    /// An update for a central.
    struct Delivery {
        var update: Update.ID
        var attribute: AttributeHandle
        var central: Central.ID
    }

    struct Entry {
        var delivery: Delivery
        var size: Int
    }

    /// Packets and their bytes, without their headers.
    struct Amount {
        var packets = 0
        var bytes = 0

        var isNothing: Bool { packets <= 0 && bytes <= 0 }
        /// Whether neither of both is less than nothing.
        var isNoLessThanNothing: Bool { packets >= 0 && bytes >= 0 }

        func covers(_ size: Int) -> Bool { packets > 0 && bytes >= size }

        mutating func take(_ size: Int) {
            packets -= 1
            bytes -= size
        }

        mutating func add(_ size: Int) {
            packets += 1
            bytes += size
        }

        /// Becomes less by what there is.
        mutating func pay(with other: inout Amount) {
            let (packets, bytes) = (min(packets, max(other.packets, 0)), min(bytes, max(other.bytes, 0)))
            self = Amount(packets: self.packets - packets, bytes: self.bytes - bytes)
            other = Amount(packets: other.packets - packets, bytes: other.bytes - bytes)
        }

        static func - (one: Amount, other: Amount) -> Amount {
            Amount(packets: one.packets - other.packets, bytes: one.bytes - other.bytes)
        }

        static func + (one: Amount, other: Amount) -> Amount {
            Amount(packets: one.packets + other.packets, bytes: one.bytes + other.bytes)
        }
    }

    /// The headers of a packet: that of the link (Core Specification, Vol 4, Part E, 5.4.2), and a byte that some drivers
    /// count.
    private static let packetHeader = 5
    /// The least that a command takes.
    private static let commandSize = 4
    /// What a value is sent with: its length and channel, and what is done to which attribute (Vol 3, Part F, 3.4.7.1).
    private static let valueHeader = 7
    private static let shortestSilence = Duration.milliseconds(200)
    private static let longestSilence = Duration.seconds(30)
    /// So many centrals that leave have one more given to each of the others, while nothing counts as having been sent to
    /// them.
    private static let mostNudges = 16

    private var entries: [Entry] = []
    private var counters: LinkCounters
    /// What has been sent beyond the updates that count as having left.
    private var surplus = Amount()
    /// How much of what was sent are responses.
    private var responses = Responses()
    /// What counts as having left, but has not been sent.
    private var owed = Amount()
    private var sentSinceSilence = Amount()
    private var lastMove: ContinuousClock.Instant
    /// The longest time without a packet of late, while something was missing.
    private var longestPause = Duration.zero
    /// How many silences have followed one another.
    private var silences = 0
    /// Whether something was owed after the last silence.
    private var isSettling = false
    /// Whether an update has counted as having been sent since.
    private var hasProgressed = false
    /// How many centrals have left since an update has counted as having been sent.
    private var nudges = 0
    /// Which links are stalled, where there are several.
    private var search = StalledLinkProbe()
    /// How fast the links are, where there are several.
    private var shares = LinkShares()
    private var trial: SpeedTrial?

    /// Begins with what the adapter has sent so far.
    init(_ counters: LinkCounters, at now: ContinuousClock.Instant) {
        self.counters = counters
        lastMove = now
    }

    /// Whether all have left.
    var isEmpty: Bool {
        entries.isEmpty && trial == nil && search.suspects.allSatisfy(\.entries.isEmpty)
    }

    /// Whether the time is measured that links take.
    var isMeasuring: Bool { trial != nil }

    /// Takes note that bluetoothd is being given an update; what the adapter has sent until then is told before.
    mutating func given(_ delivery: Delivery, size: Int, at now: ContinuousClock.Instant) {
        let entry = Entry(delivery: delivery, size: size + Self.valueHeader)
        if trial != nil {
            trial?.add(entry)
            return
        }
        if search.isRunning || search.suspects.contains(where: { $0.central == delivery.central }) {
            return search.add(entry)
        }
        if entries.isEmpty {
            (surplus, lastMove) = (Amount(), now)
            responses.forgetDoubts()
        }
        entries.append(entry)
    }

    /// Takes note that bluetoothd has asked for the answer to a request, or is going to get one to an indication.
    mutating func asked() { responses.asked += 1 }

    /// Takes note that bluetoothd has not been given an update after all.
    mutating func withdraw(_ update: Update.ID) {
        entries.removeAll { $0.delivery.update == update }
        trial?.withdraw(update)
        search.withdraw(update)
    }

    /// Takes note that a central is gone.
    ///
    /// The kernel then takes back the room that it had in the controller, but uses it for the others only when it is given
    /// something more to send (`hci_conn_del` in net/bluetooth/hci_conn.c). So the oldest that is missing for each of them counts
    /// as having left, and is owed. What the adapter sends to those that come and go must not let more and more go to a
    /// central on which nothing comes through: so the search for those has a bound for each.
    ///
    /// - Returns: What counts as having left.
    mutating func settled(_ central: Central.ID) -> [Delivery] {
        entries.removeAll { $0.delivery.central == central }
        trial?.settled(central)
        shares.settled(central)
        search.settled(central)
        let suspected = search.takeOldest().map(\.delivery)
        guard nudges < Self.mostNudges else { return suspected }
        nudges += 1
        let held = trial?.takeHeld() ?? []
        let oldest = (trial?.takeOldest() ?? []) + Self.takeOldest(of: &entries)
        for entry in oldest { owed.add(entry.size) }
        return (held + oldest).map(\.delivery) + suspected
    }

    /// Takes the first for each central.
    static func takeOldest(of entries: inout [Entry]) -> [Entry] {
        var taken: [Entry] = []
        entries.removeAll { entry in
            let isFirst = !taken.contains { $0.delivery.central == entry.delivery.central }
            if isFirst { taken.append(entry) }
            return isFirst
        }
        return taken
    }

    /// Takes note of what the adapter has sent so far.
    ///
    /// - Returns: What counts as having left since.
    mutating func sent(_ new: LinkCounters, at time: ContinuousClock.Instant) -> [Delivery] {
        let packets = Self.difference(new.packetsSent, counters.packetsSent)
        let sent = Amount(
            packets: packets
                - responses.count(
                    among: packets,
                    to: Self.difference(new.packetsReceived, counters.packetsReceived),
                    at: time
                ),
            bytes: Self.difference(new.bytesSent, counters.bytesSent) - packets * Self.packetHeader
                - Self.difference(new.commandsSent, counters.commandsSent) * Self.commandSize
        )
        (surplus, sentSinceSilence) = (surplus + sent, sentSinceSilence + sent)
        counters = new
        if surplus.packets > 0 { moved(at: time) }
        if trial != nil { return tryOn(sent, at: time) }
        if search.isRunning { return searchOn(sent, at: time) }
        if search.isDue(at: time) { return beginSearch(at: time) }
        owed.pay(with: &surplus)
        guard time - lastMove < silence else { return endSilence(at: time) }
        var completed: [Delivery] = []
        while owed.isNothing, let index = shares.next(of: entries), surplus.covers(entries[index].size) {
            surplus.take(entries[index].size)
            shares.took(entries[index].delivery.central, of: entries)
            completed.append(entries.remove(at: index).delivery)
        }
        if !completed.isEmpty { (hasProgressed, nudges) = (true, 0) }
        if owed.isNothing, search.isOver, let centrals = shares.dueTrial(of: entries, at: time) {
            trial = SpeedTrial(of: entries, centrals, surplus: surplus, at: time)
            (entries, surplus) = ([], Amount())
        }
        return completed
    }

    private mutating func moved(at time: ContinuousClock.Instant) {
        if !entries.isEmpty { longestPause = max(time - lastMove, longestPause * 7 / 8) }
        lastMove = time
        silences = 0
    }

    /// Nothing has been sent for so long that all that is missing counts as having left.
    private mutating func endSilence(at time: ContinuousClock.Instant) -> [Delivery] {
        if !search.isOver || Set(entries.map(\.delivery.central)).count > 1 { return beginSearch(at: time) }
        let missing = entries.reduce(into: Amount()) { $0.add($1.size) }
        // What was sent since the last one was rather this than what was owed: that is not there.
        let isSent =
            silences == 0 && isSettling && !hasProgressed && (sentSinceSilence - missing).isNoLessThanNothing
        if !isSent { owed = owed + missing }
        (surplus, sentSinceSilence) = (Amount(), Amount())
        isSettling = !owed.isNothing
        hasProgressed = false
        silences += 1
        lastMove = time
        return takeFirst(entries.count)
    }

    private mutating func beginSearch(at time: ContinuousClock.Instant) -> [Delivery] {
        search.begin(entries)
        let sent = surplus
        (entries, owed, isSettling, silences) = ([], Amount(), false, 0)
        return searchOn(sent, at: time)
    }

    private mutating func tryOn(_ sent: Amount, at time: ContinuousClock.Instant) -> [Delivery] {
        guard var trial else { return [] }
        if time - lastMove >= silence, !trial.entries.isEmpty {
            // Some link may be stalled.
            self.trial = nil
            entries = trial.entries
            shares.ended(trial, at: time)
            return trial.held.map(\.delivery) + beginSearch(at: time)
        }
        let completed = trial.sent(sent, at: time)
        if !completed.isEmpty { nudges = 0 }
        (surplus, sentSinceSilence) = (Amount(), Amount())
        self.trial = trial.isOver ? nil : trial
        if trial.isOver {
            entries = trial.entries
            lastMove = time
            shares.ended(trial, at: time)
        }
        return completed.map(\.delivery)
    }

    private mutating func searchOn(_ sent: Amount, at time: ContinuousClock.Instant) -> [Delivery] {
        let (completed, beginsAnew) = search.sent(sent, isSilent: time - lastMove >= silence, at: time)
        if beginsAnew { lastMove = time }
        (surplus, sentSinceSilence) = (Amount(), Amount())
        return completed
    }

    /// How long nothing is sent until what is missing counts as having left.
    private var silence: Duration {
        let pause = min(max(longestPause * 4, Self.shortestSilence), Self.longestSilence)
        return min(pause * (1 << min(silences, 16)), Self.longestSilence)
    }

    private mutating func takeFirst(_ count: Int) -> [Delivery] {
        let taken = entries.prefix(count).map(\.delivery)
        entries.removeFirst(count)
        return taken
    }

    /// How much a number has grown; nothing when it has started again.
    private static func difference(_ new: UInt32, _ old: UInt32) -> Int {
        let difference = new &- old
        return difference <= UInt32.max / 2 ? Int(difference) : 0
    }
}
