internal import PeripheralCore
internal import PeripheralKit

/// Finds the links that do not work, when the adapter has sent nothing although updates for several centrals
/// are missing.
///
/// Only the total of what all links carry is known. So the probe gives more to one central at a time, and to
/// no other meanwhile. Either the adapter sends that, or the link of this central is stalled. A stalled
/// central is left alone while the others are sent to. It is probed again now and then, when the updates for
/// the others are completed.
struct StalledLinkProbe {
    /// A central with its missing updates.
    struct Suspect {
        var central: Central.ID
        var entries: [CompletionEstimate.Entry] = []
        /// The amount that counts as completed, but may not have been sent.
        var owed = CompletionEstimate.Amount()
        /// Whether nothing was sent to it when it was given more.
        var isStalled = false
        /// When it was given more.
        var givenAt: ContinuousClock.Instant?

        var owesTooMuch: Bool { owed.packets > StalledLinkProbe.mostOwed }

        var missing: CompletionEstimate.Amount { entries.reduce(into: owed) { $0.add($1.size) } }

        /// Limits what is owed, because no more than this is missing for all suspects together.
        mutating func owe(noMoreThan missing: CompletionEstimate.Amount) {
            let rest = entries.reduce(into: missing) { $0.take($1.size) }
            owed.packets = min(owed.packets, max(rest.packets, 0))
            owed.bytes = min(owed.bytes, max(rest.bytes, 0))
        }
    }

    /// The largest amount owed to a central.
    ///
    /// Beyond it, the central is given one update at a time, after ``longestLoss``.
    private static let mostOwed = 64
    /// The time after which a silent link is lost (Core Specification, Vol 4, Part E, 7.8.12).
    ///
    /// A link that still exists by then may work again, and less may be owed than was assumed. But a central
    /// that answers and takes no data keeps its link for as long as it likes. One more update shows which of
    /// the two it is.
    private static let longestLoss = Duration.seconds(32)
    private static let (shortestRest, longestRest) = (Duration.seconds(1), Duration.seconds(30))

    var suspects: [Suspect] = []
    private var waiting: [Central.ID] = []
    private var current: Central.ID?
    /// Whether bluetoothd has been given something for the current central since its turn began.
    private var isCurrentTried = false
    /// The amount that other centrals may send meanwhile, so that it is attributed to none.
    ///
    /// This is what was missing for centrals that have disconnected and, during a probe, everything that
    /// bluetoothd is given.
    private var awaited = CompletionEstimate.Amount()
    private var sent = CompletionEstimate.Amount()
    /// Whether no central is given anything until all but the stalled ones are known to have everything.
    private var isDraining = false
    private(set) var isRunning = false
    private var rest = shortestRest
    private var restsUntil: ContinuousClock.Instant?

    /// Whether no central is known to be stalled.
    var isOver: Bool { suspects.isEmpty }

    func isDue(at time: ContinuousClock.Instant) -> Bool {
        !isRunning && !suspects.isEmpty && restsUntil.map { time >= $0 } ?? true
    }

    /// Takes the missing updates, and begins.
    ///
    /// Centrals that were found stalled before are probed once the others have everything.
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
        // Some of it may have been sent, which must not make another link appear to work.
        if isDraining { awaited = suspects.reduce(awaited) { $1.central == central ? $0 + $1.missing : $0 } }
        suspects.removeAll { $0.central == central }
        waiting.removeAll { $0 == central }
        if suspects.isEmpty { self = StalledLinkProbe() }
        // The central may have been what kept the others silent.
        restsUntil = nil
    }

    /// Takes the first missing update of each central; it is owed from now on.
    ///
    /// Centrals to which too much is owed are left out.
    mutating func takeOldest() -> [CompletionEstimate.Entry] {
        suspects.indices.filter { !suspects[$0].owesTooMuch }.flatMap { index in
            let taken = CompletionEstimate.takeOldest(of: &suspects[index].entries)
            for entry in taken { suspects[index].owed.add(entry.size) }
            return taken
        }
    }

    /// Records what was sent.
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
            // The amount owed may have been sent before, while its recipient was unknown.
            for index in suspects.indices { suspects[index].owe(noMoreThan: missing - sent) }
            // If any suspects were stalled before, the others have everything; otherwise nothing is known of
            // any of them.
            let stalled = suspects.filter(\.isStalled).map(\.central)
            waiting = stalled.isEmpty ? suspects.map(\.central) : stalled
            return (next(at: time), true)
        }
        guard let index = suspects.firstIndex(where: { $0.central == current }) else {
            return (next(at: time), true)
        }
        let hasCompleted = (awaited - sent).isNothing
        guard hasCompleted && isCurrentTried || isSilent else { return ([], false) }
        // Without another update for the central, nothing is known.
        if isCurrentTried { suspects[index].isStalled = !hasCompleted }
        return (next(at: time), true)
    }

    /// Gives the next central more.
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
