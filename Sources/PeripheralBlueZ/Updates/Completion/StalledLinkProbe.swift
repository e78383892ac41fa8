internal import PeripheralCore
internal import PeripheralKit

/// The search for the links on which nothing comes through, when the adapter has sent nothing although something is missing
/// for several centrals.
///
/// Only the sum of what all links carry is known. So one central after the other is given more, and no other meanwhile: the
/// adapter sends that, or nothing comes through to this central. Such a one is left alone while the others are sent to, and
/// looked for again now and then, when what is for the others has left.
struct StalledLinkProbe {
    /// A central with what is missing.
    struct Suspect {
        var central: Central.ID
        var entries: [CompletionEstimate.Entry] = []
        /// What counts as having left, but may not have been sent.
        var owed = CompletionEstimate.Amount()
        /// Whether nothing came through to it when it was given more.
        var isStalled = false
        /// When it was given more.
        var givenAt: ContinuousClock.Instant?

        var owesTooMuch: Bool { owed.packets > StalledLinkProbe.mostOwed }

        var missing: CompletionEstimate.Amount { entries.reduce(into: owed) { $0.add($1.size) } }

        /// Takes note that no more than this is missing for all together.
        mutating func owe(noMoreThan missing: CompletionEstimate.Amount) {
            let rest = entries.reduce(into: missing) { $0.take($1.size) }
            owed.packets = min(owed.packets, max(rest.packets, 0))
            owed.bytes = min(owed.bytes, max(rest.bytes, 0))
        }
    }

    /// To a central to which more is owed, or would be, only one more is given at a time, after ``longestLoss``.
    private static let mostOwed = 64
    /// A link on which nothing at all is heard is lost by then (Core Specification, Vol 4, Part E, 7.8.12).
    ///
    /// One that is still there may work again, and less may be owed than was thought; but a central that is heard, and takes nothing, keeps its
    /// link for as long as it likes. One more tells which it is.
    private static let longestLoss = Duration.seconds(32)
    private static let (shortestRest, longestRest) = (Duration.seconds(1), Duration.seconds(30))

    var suspects: [Suspect] = []
    private var waiting: [Central.ID] = []
    private var current: Central.ID?
    /// Whether bluetoothd has been given something for the current one since.
    private var isCurrentTried = false
    /// What others may send meanwhile, so that it is taken for nobody's: what was missing for those that are gone, and, while
    /// one is given more, all that bluetoothd is given, for whomever.
    private var awaited = CompletionEstimate.Amount()
    private var sent = CompletionEstimate.Amount()
    /// Since when nothing is given to anybody until all but the stalled are known to have everything.
    private var isDraining = false
    private(set) var isRunning = false
    private var rest = shortestRest
    private var restsUntil: ContinuousClock.Instant?

    /// Whether nobody is known to be stalled.
    var isOver: Bool { suspects.isEmpty }

    func isDue(at time: ContinuousClock.Instant) -> Bool {
        !isRunning && !suspects.isEmpty && restsUntil.map { time >= $0 } ?? true
    }

    /// Takes what is missing, and begins; those that were found to be stalled before are looked at once the others have left.
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

    mutating func withdraw(_ update: Update.ID) {
        for index in suspects.indices { suspects[index].entries.removeAll { $0.delivery.update == update } }
    }

    mutating func settled(_ central: Central.ID) {
        // Some of it may have been sent: another must not pass for one to which something comes through because of that.
        if isDraining { awaited = suspects.reduce(awaited) { $1.central == central ? $0 + $1.missing : $0 } }
        suspects.removeAll { $0.central == central }
        waiting.removeAll { $0 == central }
        if suspects.isEmpty { self = StalledLinkProbe() }
        // It may have been what kept the others silent.
        restsUntil = nil
    }

    /// Takes the first that is missing for each central, which is owed from now on, unless too much is.
    mutating func takeOldest() -> [CompletionEstimate.Entry] {
        suspects.indices.filter { !suspects[$0].owesTooMuch }.flatMap { index in
            let taken = CompletionEstimate.takeOldest(of: &suspects[index].entries)
            for entry in taken { suspects[index].owed.add(entry.size) }
            return taken
        }
    }

    /// Takes note of what was sent.
    ///
    /// - Parameters:
    ///   - amount: What was sent since the last call.
    ///   - isSilent: Whether nothing has been sent for a while.
    ///   - time: When that was.
    /// - Returns: What counts as having left, and whether the wait for a silence begins anew.
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
            // What was owed may have been sent before, while nobody knew whose it was.
            for index in suspects.indices { suspects[index].owe(noMoreThan: missing - sent) }
            // Those that were not stalled before have left, if any is; otherwise nobody knows.
            let stalled = suspects.filter(\.isStalled).map(\.central)
            waiting = stalled.isEmpty ? suspects.map(\.central) : stalled
            return (next(at: time), true)
        }
        guard let index = suspects.firstIndex(where: { $0.central == current }) else {
            return (next(at: time), true)
        }
        let hasCompleted = (awaited - sent).isNothing
        guard hasCompleted && isCurrentTried || isSilent else { return ([], false) }
        // Where there was nothing more for it, nothing is known.
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
