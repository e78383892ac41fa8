internal import PeripheralCore
internal import PeripheralKit

/// The search for the links on which nothing comes through, when the adapter has sent nothing although something is missing
/// for several centrals.
///
/// Only the sum of what all links carry is known. So one central after the other is given more, and no other meanwhile: the
/// adapter sends that, or nothing comes through to this central. Such a one is left alone while the others are sent to, and
/// looked for again now and then, when what is for the others has left.
struct StallSearch {
    /// A central with what is missing.
    struct Suspect {
        var central: Central.ID
        var entries: [DepartureEstimate.Entry] = []
        /// What counts as having left, but may not have been sent.
        var owed = DepartureEstimate.Amount()
        /// Whether nothing came through to it when it was given more.
        var isStalled = false

        var missing: DepartureEstimate.Amount { entries.reduce(into: owed) { $0.add($1.size) } }
    }

    /// No more than so many are given to a central on which nothing comes through.
    private static let mostOwed = 64
    private static let (shortestRest, longestRest) = (Duration.seconds(1), Duration.seconds(30))

    var suspects: [Suspect] = []
    private var waiting: [Central.ID] = []
    private var current: Central.ID?
    private var sent = DepartureEstimate.Amount()
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
    mutating func begin(_ entries: [DepartureEstimate.Entry]) {
        isRunning = true
        isDraining = true
        sent = DepartureEstimate.Amount()
        for entry in entries { add(entry) }
    }

    mutating func add(_ entry: DepartureEstimate.Entry) {
        let central = entry.departure.central
        if !suspects.contains(where: { $0.central == central }) { suspects.append(Suspect(central: central)) }
        for index in suspects.indices where suspects[index].central == central {
            suspects[index].entries.append(entry)
        }
    }

    mutating func withdraw(_ update: Update.ID) {
        for index in suspects.indices { suspects[index].entries.removeAll { $0.departure.update == update } }
    }

    mutating func settled(_ central: Central.ID) {
        suspects.removeAll { $0.central == central }
        waiting.removeAll { $0 == central }
        if suspects.isEmpty { self = StallSearch() }
    }

    /// Takes note of what was sent.
    ///
    /// - Parameters:
    ///   - amount: What was sent since the last call.
    ///   - isSilent: Whether nothing has been sent for a while.
    ///   - time: When that was.
    /// - Returns: What counts as having left, and whether the wait for a silence begins anew.
    mutating func sent(
        _ amount: DepartureEstimate.Amount,
        isSilent: Bool,
        at time: ContinuousClock.Instant
    ) -> (left: [DepartureEstimate.Departure], beginsAnew: Bool) {
        sent = sent + amount
        if isDraining {
            let missing = suspects.reduce(DepartureEstimate.Amount()) { $0 + $1.missing }
            if (missing - sent).isNothing {
                for index in suspects.indices { suspects[index].isStalled = false }
                return (finish(at: time), true)
            }
            guard isSilent else { return ([], false) }
            isDraining = false
            // Those that were not stalled before have left, if any is; otherwise nobody knows.
            let stalled = suspects.filter(\.isStalled).map(\.central)
            waiting = stalled.isEmpty ? suspects.map(\.central) : stalled
            return (next(at: time), true)
        }
        guard let index = suspects.firstIndex(where: { $0.central == current }) else {
            return (next(at: time), true)
        }
        let entries = suspects[index].entries.reduce(into: DepartureEstimate.Amount()) { $0.add($1.size) }
        let hasLeft = (entries - sent).isNothing
        guard hasLeft && !suspects[index].entries.isEmpty || isSilent else { return ([], false) }
        suspects[index].isStalled = !hasLeft
        return (next(at: time), true)
    }

    /// Gives the next central more.
    private mutating func next(at time: ContinuousClock.Instant) -> [DepartureEstimate.Departure] {
        sent = DepartureEstimate.Amount()
        while let central = waiting.first {
            waiting.removeFirst()
            guard let index = suspects.firstIndex(where: { $0.central == central }),
                !suspects[index].entries.isEmpty,
                suspects[index].missing.packets <= Self.mostOwed
            else { continue }
            current = central
            let left = suspects[index].entries.map(\.departure)
            (suspects[index].owed, suspects[index].entries) = (suspects[index].missing, [])
            return left
        }
        return finish(at: time)
    }

    private mutating func finish(at time: ContinuousClock.Instant) -> [DepartureEstimate.Departure] {
        let left = suspects.filter { !$0.isStalled }.flatMap(\.entries).map(\.departure)
        suspects.removeAll { !$0.isStalled }
        (isRunning, isDraining, current, waiting) = (false, false, nil, [])
        rest = suspects.isEmpty ? Self.shortestRest : min(rest * 2, Self.longestRest)
        restsUntil = time + rest
        return left
    }
}
