internal import PeripheralCore
internal import PeripheralKit

/// Finds the links that do not work.
///
/// The probe runs if the adapter has sent nothing although updates for several centrals are missing. Only the
/// total of all links is known. Therefore the probe lets one central at a time receive updates, and no other
/// central in the meantime. Either the adapter sends these updates, or the link of this central is stalled.
/// While updates are sent to the other centrals, a stalled central receives nothing. The probe tests a
/// stalled central again from time to time, when the updates for the other centrals are completed.
struct StalledLinkProbe {
    /// A central with its missing updates.
    struct Suspect {
        var central: Central.ID
        var entries: [CompletionEstimate.Entry] = []
        /// The amount that counts as completed, but may not have been sent.
        var owed = CompletionEstimate.Amount()
        /// Whether nothing was sent to the central after it received more updates.
        var isStalled = false
        /// The time when the central received more updates.
        var givenAt: ContinuousClock.Instant?

        var owesTooMuch: Bool { owed.packets > StalledLinkProbe.mostOwed }

        var missing: CompletionEstimate.Amount { entries.reduce(into: owed) { $0.add($1.size) } }

        /// Limits the owed amount to the total amount that is missing for all suspects.
        mutating func owe(noMoreThan missing: CompletionEstimate.Amount) {
            let rest = entries.reduce(into: missing) { $0.take($1.size) }
            owed.packets = min(owed.packets, max(rest.packets, 0))
            owed.bytes = min(owed.bytes, max(rest.bytes, 0))
        }
    }

    /// The largest amount owed to a central.
    ///
    /// Beyond this amount, the central receives one update at a time, after ``longestLoss``.
    private static let mostOwed = 64
    /// The time after which a silent link is lost (Core Specification, Vol 4, Part E, 7.8.12).
    ///
    /// A link that still exists after this time may work again, and the owed amount may be smaller than
    /// assumed. However, a central that answers but accepts no data can keep its link without limit. One more
    /// update distinguishes these two cases.
    private static let longestLoss = Duration.seconds(32)
    private static let (shortestRest, longestRest) = (Duration.seconds(1), Duration.seconds(30))

    var suspects: [Suspect] = []
    private var waiting: [Central.ID] = []
    private var current: Central.ID?
    /// Whether bluetoothd has received an update for the current central since its turn began.
    private var isCurrentTried = false
    /// The amount that other centrals may send in the meantime, which is attributed to no central.
    ///
    /// This amount is missing for disconnected centrals. During a probe, it also includes all updates that
    /// bluetoothd receives.
    private var awaited = CompletionEstimate.Amount()
    private var sent = CompletionEstimate.Amount()
    /// Whether no central receives updates until all updates for working centrals are known to be sent.
    private var isDraining = false
    private(set) var isRunning = false
    private var rest = shortestRest
    private var restsUntil: ContinuousClock.Instant?

    /// Whether no central is known to be stalled.
    var isOver: Bool { suspects.isEmpty }

    func isDue(at time: ContinuousClock.Instant) -> Bool {
        !isRunning && !suspects.isEmpty && restsUntil.map { time >= $0 } ?? true
    }

    /// Begins with the missing updates.
    ///
    /// Centrals that were stalled before are probed after the updates for the other centrals are sent.
    mutating func begin(_ entries: [CompletionEstimate.Entry]) {
        isRunning = true
        isDraining = true
        (sent, awaited) = (CompletionEstimate.Amount(), CompletionEstimate.Amount())
        for entry in entries { add(entry) }
    }

    mutating func add(_ entry: CompletionEstimate.Entry) {
        let central = entry.delivery.central
        if !suspects.contains(where: { $0.central == central }) { suspects.append(Suspect(central: central)) }
        for index in suspects.indices where suspects[index].central == central {
            suspects[index].entries.append(entry)
        }
        guard current != nil else { return }
        awaited.add(entry.size)
        if central == current { isCurrentTried = true }
    }

    mutating func withdraw(_ update: BackendUpdate.ID) {
        for index in suspects.indices { suspects[index].entries.removeAll { $0.delivery.update == update } }
    }

    mutating func settled(_ central: Central.ID) {
        // Some of the amount may have been sent. This must not make another link seem to work.
        if isDraining { awaited = suspects.reduce(awaited) { $1.central == central ? $0 + $1.missing : $0 } }
        suspects.removeAll { $0.central == central }
        waiting.removeAll { $0 == central }
        if suspects.isEmpty { self = StalledLinkProbe() }
        // The central may have caused the silence of the other centrals.
        restsUntil = nil
    }

    /// Removes and returns the first missing update of each central, which is owed from now on.
    ///
    /// The result does not include centrals with a too large owed amount.
    mutating func takeOldest() -> [CompletionEstimate.Entry] {
        suspects.indices.filter { !suspects[$0].owesTooMuch }.flatMap { index in
            let taken = CompletionEstimate.takeOldest(of: &suspects[index].entries)
            for entry in taken { suspects[index].owed.add(entry.size) }
            return taken
        }
    }

    /// Records the amount that was sent.
    ///
    /// - Parameters:
    ///   - amount: The amount sent since the last call.
    ///   - isSilent: Whether nothing has been sent for a while.
    ///   - time: The time of the call.
    /// - Returns: The updates that count as completed, and whether the wait for a silence begins again.
    mutating func sent(
        _ amount: CompletionEstimate.Amount,
        isSilent: Bool,
        at time: ContinuousClock.Instant
    ) -> (completed: [CompletionEstimate.Delivery], beginsAnew: Bool) {
        sent = sent + amount
        if isDraining {
            let missing = suspects.reduce(awaited) { $0 + $1.missing }
            if (missing - sent).isNothing {
                for index in suspects.indices { suspects[index].isStalled = false }
                return (finish(at: time), true)
            }
            guard isSilent else { return ([], false) }
            isDraining = false
            // The owed amount may have been sent before, while its recipient was unknown.
            for index in suspects.indices { suspects[index].owe(noMoreThan: missing - sent) }
            // If any suspects were stalled before, all updates for the other centrals are sent. If not, the
            // state of every central is unknown.
            let stalled = suspects.filter(\.isStalled).map(\.central)
            waiting = stalled.isEmpty ? suspects.map(\.central) : stalled
            return (next(at: time), true)
        }
        guard let index = suspects.firstIndex(where: { $0.central == current }) else {
            return (next(at: time), true)
        }
        let hasCompleted = (awaited - sent).isNothing
        guard hasCompleted && isCurrentTried || isSilent else { return ([], false) }
        // Without another update for the central, the state of its link remains unknown.
        if isCurrentTried { suspects[index].isStalled = !hasCompleted }
        return (next(at: time), true)
    }

    /// Lets the next central receive updates.
    private mutating func next(at time: ContinuousClock.Instant) -> [CompletionEstimate.Delivery] {
        (sent, awaited) = (CompletionEstimate.Amount(), CompletionEstimate.Amount())
        while let central = waiting.first {
            waiting.removeFirst()
            guard let index = suspects.firstIndex(where: { $0.central == central }),
                !suspects[index].entries.isEmpty
            else { continue }
            var count = suspects[index].entries.count
            if suspects[index].missing.packets > Self.mostOwed {
                if let givenAt = suspects[index].givenAt, time - givenAt < Self.longestLoss { continue }
                count = 1
            }
            suspects[index].givenAt = time
            (current, isCurrentTried) = (central, false)
            let completed = suspects[index].entries.prefix(count)
            for entry in completed { suspects[index].owed.add(entry.size) }
            suspects[index].entries.removeFirst(count)
            return completed.map(\.delivery)
        }
        return finish(at: time)
    }

    private mutating func finish(at time: ContinuousClock.Instant) -> [CompletionEstimate.Delivery] {
        let completed = suspects.filter { !$0.isStalled }.flatMap(\.entries).map(\.delivery)
        suspects.removeAll { !$0.isStalled }
        (isRunning, isDraining, current, waiting) = (false, false, nil, [])
        rest = suspects.isEmpty ? Self.shortestRest : min(rest * 2, Self.longestRest)
        restsUntil = time + rest
        return completed
    }
}
