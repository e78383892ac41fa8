internal import PeripheralCore
internal import PeripheralKit

/// Estimates which updates are completed from the total that the adapter has sent.
///
/// An update counts as completed when the adapter has sent enough packets and bytes to any centrals. Enough
/// means the packets and bytes of this update and of all earlier updates. Therefore no more updates are in
/// flight to one central than count as in flight to all centrals, and the slowest link sets the pace. Either
/// number alone would drift:
///
/// - An update may take several packets, of a size that the kernel does not report.
/// - The adapter also sends responses of any size. ``Responses`` estimates their number.
///
/// If there were fewer responses, or bluetoothd has not sent an update, the numbers stop although updates are
/// missing. After a time of silence, the missing updates count as completed.
///
/// The cause of a silence may also be a link that does not work. Therefore updates that count as completed
/// only because of a silence are owed: the next sent packets count for these updates. If the adapter sends
/// only as much as bluetoothd receives next, the owed packets did not exist. The time doubles with each
/// silence, so only a few silences follow one another until the link is lost.
///
/// The estimate is a pure value. It receives the updates that bluetoothd receives and the counters, and
/// returns the completed updates.
struct CompletionEstimate {
    /// An update for one central.
    struct Delivery {
        var update: BackendUpdate.ID
        var attribute: AttributeHandle
        var central: Central.ID
    }

    struct Entry {
        var delivery: Delivery
        var size: Int
    }

    /// A number of packets and the number of their bytes, without headers.
    struct Amount {
        var packets = 0
        var bytes = 0

        var isNothing: Bool { packets <= 0 && bytes <= 0 }
        /// Whether neither of the two numbers is negative.
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

        /// Subtracts the common part of both amounts from both.
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

    /// The size of the headers of a packet.
    ///
    /// These are the header of the link (Core Specification, Vol 4, Part E, 5.4.2), and a byte that some
    /// drivers count.
    private static let packetHeader = 5
    /// The smallest size of a command.
    private static let commandSize = 4
    /// The size of the header of a value: length, channel, opcode and attribute (Vol 3, Part F, 3.4.7.1).
    private static let valueHeader = 7
    private static let shortestSilence = Duration.milliseconds(200)
    private static let longestSilence = Duration.seconds(30)

    private var entries: [Entry] = []
    private var counters: LinkCounters
    /// The amount sent beyond the updates that count as completed.
    private var surplus = Amount()
    /// The estimated number of responses in the sent amount.
    private var responses = Responses()
    private var owed = OwedAmounts()
    private var sentSinceSilence = Amount()
    private var lastMove: ContinuousClock.Instant
    /// The longest recent time without a packet while updates were missing.
    private var longestPause = Duration.zero
    /// The number of successive silences.
    private var silences = 0
    /// Whether an amount was owed after the last silence.
    private var isSettling = false
    /// Whether an update has counted as sent since the last silence.
    private var hasProgressed = false
    /// Finds the stalled links among several.
    private var probe = StalledLinkProbe()

    /// The updates that the kernel has passed to the controller.
    private var buffers: ControllerBuffers

    /// Creates an estimate with the current counters of the adapter.
    ///
    /// - Parameters:
    ///   - counters: The counters.
    ///   - room: The number of packets that the controller has room for.
    ///   - now: The time.
    init(_ counters: LinkCounters, room: Int, at now: ContinuousClock.Instant) {
        self.counters = counters
        buffers = ControllerBuffers(room: room, at: now)
        lastMove = now
    }

    /// Whether all updates are completed.
    var isEmpty: Bool { isHostEmpty && buffers.isEmpty }

    /// Whether the kernel has passed all updates to the controller.
    var isHostEmpty: Bool { entries.isEmpty && probe.isEmpty }

    /// Returns whether the next packets show how fast the controller sends.
    func isMeasuring(at now: ContinuousClock.Instant) -> Bool { buffers.isMeasuring(at: now) }

    /// The time at which the controller has probably sent the next update; `nil` if this is not known.
    var nextCompletion: ContinuousClock.Instant? { buffers.nextCompletion }

    /// Records that bluetoothd receives an update.
    ///
    /// If ``isHostEmpty``, the latest counters must be passed to ``sent(_:at:)`` before.
    mutating func given(_ delivery: Delivery, size: Int, at now: ContinuousClock.Instant) {
        let entry = Entry(delivery: delivery, size: size + Self.valueHeader)
        buffers.given(at: now)
        if probe.isRunning || probe.suspects(delivery.central) {
            return probe.add(entry)
        }
        if entries.isEmpty {
            (surplus, lastMove) = (Amount(), now)
            responses.forgetDoubts()
        }
        entries.append(entry)
    }

    /// Records a request of bluetoothd to the program, or a coming confirmation of an indication.
    mutating func asked() { responses.asked += 1 }

    /// Records that bluetoothd has not received an update.
    mutating func withdraw(_ update: BackendUpdate.ID) {
        entries.removeAll { $0.delivery.update == update }
        probe.withdraw(update)
        buffers.withdraw(update)
    }

    /// Records that a central has disconnected.
    ///
    /// The kernel then regains the room that the central had in the controller. It uses this room for other
    /// centrals only when it receives more data to send (`hci_conn_del` in net/bluetooth/hci_conn.c).
    /// Therefore the oldest missing update of each central counts as completed, and is owed. Centrals that
    /// connect and disconnect must not release more and more updates for a central whose link does not work.
    /// For this reason, the owed amount of each central has a bound.
    ///
    /// - Returns: The updates that count as completed.
    mutating func settled(_ central: Central.ID) -> [Delivery] {
        entries.removeAll { $0.delivery.central == central }
        owed.forget(central)
        probe.settled(central)
        buffers.settled(central)
        let oldest = takeOldest()
        for entry in oldest { owed.add(entry) }
        return (oldest + probe.takeOldest()).map(\.delivery)
    }

    /// Removes and returns the first entry of each central, unless too much is owed to the central.
    private mutating func takeOldest() -> [Entry] {
        var taken: [Entry] = []
        entries.removeAll { entry in
            let central = entry.delivery.central
            let isFirst =
                !taken.contains { $0.delivery.central == central }
                && owed.packets(for: central) < StalledLinkProbe.mostOwedAfterDisconnections
            if isFirst { taken.append(entry) }
            return isFirst
        }
        return taken
    }

    /// Records the current counters of the adapter.
    ///
    /// - Returns: The updates that count as completed since the last call.
    mutating func sent(_ new: LinkCounters, at time: ContinuousClock.Instant) -> [Delivery] {
        let packets = Self.difference(new.packetsSent, counters.packetsSent)
        let (waitingBefore, wasProbing) = (entries.count, probe.isRunning)
        let passed = passed(new, at: time)
        // What a probe releases has not been passed to the controller.
        let isProbing = wasProbing || probe.isRunning
        return buffers.passed(
            passed,
            packets: isProbing ? 0 : packets,
            waiting: isProbing ? (0, 0) : (waitingBefore, entries.count),
            at: time
        )
    }

    /// Returns the updates that the kernel has passed to the controller, or that no longer count as missing.
    private mutating func passed(_ new: LinkCounters, at time: ContinuousClock.Instant) -> [Delivery] {
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
        if probe.isRunning { return continueProbe(sent, at: time) }
        if probe.isDue(at: time) { return beginProbe(at: time) }
        owed.pay(with: &surplus)
        guard time - lastMove < silence else { return endSilence(at: time) }
        guard owed.isNothing else { return [] }
        let completed = entries.prefix { entry in
            guard surplus.covers(entry.size) else { return false }
            surplus.take(entry.size)
            return true
        }
        if !completed.isEmpty { hasProgressed = true }
        return takeFirst(completed.count)
    }

    private mutating func moved(at time: ContinuousClock.Instant) {
        if !entries.isEmpty { longestPause = max(time - lastMove, longestPause * 7 / 8) }
        lastMove = time
        silences = 0
    }

    /// Completes all missing updates, because the adapter has sent nothing for a long time.
    private mutating func endSilence(at time: ContinuousClock.Instant) -> [Delivery] {
        let centrals = Set(entries.map(\.delivery.central) + owed.amounts.map(\.central))
        if !probe.isOver || centrals.count > 1 { return beginProbe(at: time) }
        let missing = entries.reduce(into: Amount()) { $0.add($1.size) }
        // The amount sent since the last silence more likely belongs to these updates. In that case, the owed
        // amount does not exist.
        let isSent =
            silences == 0 && isSettling && !hasProgressed && (sentSinceSilence - missing).isNoLessThanNothing
        if !isSent { for entry in entries { owed.add(entry) } }
        (surplus, sentSinceSilence) = (Amount(), Amount())
        isSettling = !owed.isNothing
        hasProgressed = false
        silences += 1
        lastMove = time
        return takeFirst(entries.count)
    }

    private mutating func beginProbe(at time: ContinuousClock.Instant) -> [Delivery] {
        probe.begin(entries, owed: owed)
        let sent = surplus
        (entries, owed, isSettling, silences) = ([], OwedAmounts(), false, 0)
        return continueProbe(sent, at: time)
    }

    private mutating func continueProbe(_ sent: Amount, at time: ContinuousClock.Instant) -> [Delivery] {
        let (completed, beginsAgain) = probe.sent(sent, isSilent: time - lastMove >= silence, at: time)
        if beginsAgain { lastMove = time }
        // A response that is sent later than its request was counted must not look like a sent update.
        surplus = beginsAgain ? Amount() : Amount(packets: min(surplus.packets, 0), bytes: 0)
        sentSinceSilence = Amount()
        return completed
    }

    /// The time without a packet after which missing updates count as completed.
    private var silence: Duration {
        let pause = min(max(longestPause * 4, Self.shortestSilence), Self.longestSilence)
        return min(pause * (1 << min(silences, 16)), Self.longestSilence)
    }

    private mutating func takeFirst(_ count: Int) -> [Delivery] {
        let taken = entries.prefix(count).map(\.delivery)
        entries.removeFirst(count)
        return taken
    }

    /// Returns the growth of a counter; 0 if the counter has started again.
    private static func difference(_ new: UInt32, _ old: UInt32) -> Int {
        let difference = new &- old
        return difference <= UInt32.max / 2 ? Int(difference) : 0
    }
}
