/// The state of a ``CrashTestPeripheral`` at an instant.
struct CrashTestState: Hashable, Sendable, CustomStringConvertible {
    var first: UInt32 = 0
    var second: UInt32 = 0
    var durable: UInt32 = 0
    var isSubscribed = false

    var description: String {
        "(\(first), \(second), \(durable), \(isSubscribed ? "subscribed" : "not subscribed"))"
    }
}

/// The states of the peripheral since its start, and the states that must not be lost.
///
/// A change becomes effective at some instant between its beginning and its end.
struct CrashTestHistory: Sendable {
    private struct Step {
        var state: CrashTestState
        /// The time when the change that led to this state was known to be effective; `nil` until then.
        var end: ContinuousClock.Instant?
    }

    private var steps: [Step]
    /// The first state that may be found after a kill.
    private var oldest = 0

    /// Creates a history that begins with a preserved state.
    init(from state: CrashTestState = CrashTestState()) {
        steps = [Step(state: state, end: .now)]
    }

    /// The state after all changes that have begun.
    var latest: CrashTestState { steps[steps.count - 1].state }

    /// The number of the last change that is effective.
    var lastEnded: Int { steps.lastIndex { $0.end != nil } ?? 0 }

    /// Records that a change begins.
    mutating func begin(_ change: (inout CrashTestState) -> Void) {
        var state = latest
        change(&state)
        steps.append(Step(state: state))
    }

    /// Records that the change is effective.
    ///
    /// - Parameters:
    ///   - time: An instant at or after which the change was effective.
    ///   - isPreserved: Whether this change and all earlier changes are known to be preserved.
    mutating func end(at time: ContinuousClock.Instant, isPreserved: Bool) {
        steps[steps.count - 1].end = time
        if isPreserved { preserved(upTo: steps.count - 1) }
    }

    /// Records that all changes up to the given change are preserved.
    mutating func preserved(upTo step: Int) {
        oldest = max(oldest, step)
    }

    /// Checks the state that was found after a kill.
    ///
    /// - Parameters:
    ///   - state: The state that was found.
    ///   - kill: An instant at or before which the program was killed.
    /// - Returns: The time from the change that made the state outdated until the kill. If the state was
    ///   still current, the result is zero.
    /// - Throws: ``ConformanceFailure`` if the state was never current, or if an acknowledged durable change
    ///   is lost.
    func age(of state: CrashTestState, at kill: ContinuousClock.Instant) throws(ConformanceFailure)
        -> Duration
    {
        guard let index = steps.lastIndex(where: { $0.state == state }) else {
            throw ConformanceFailure(
                description: "\(state) was restored, but was never the state; the last states were "
                    + steps.suffix(4).map { "\($0.state)" }.joined(separator: ", ") + "."
            )
        }
        guard index >= oldest else {
            throw ConformanceFailure(
                description: "\(state) was restored, although \(steps[oldest].state) was preserved."
            )
        }
        guard index + 1 < steps.count, let end = steps[index + 1].end else { return .zero }
        return max(kill - end, .zero)
    }
}

/// The numbered entries that a subscriber must receive even if the program is killed.
struct CrashTestEntries: Sendable {
    /// The number of the last entry that the program was ordered to send.
    private(set) var ordered: UInt32 = 0
    /// The entries that the program reported as preserved and that have not arrived yet.
    private var missing: Set<UInt32> = []
    /// The number of the last entry that has arrived.
    private var last: UInt32 = 0
    private var isRepeatPossible = false
    /// The number of entries that have arrived.
    private(set) var count = 0
    /// The largest number of repeated entries after one kill.
    private(set) var longestRepeat: UInt32 = 0

    mutating func order() -> UInt32 {
        ordered += 1
        return ordered
    }

    mutating func kept(_ number: UInt32) {
        if number > last { missing.insert(number) }
    }

    /// Records that the program was killed, so the next program may repeat entries that have already arrived.
    mutating func killed() {
        isRepeatPossible = true
    }

    /// Stops waiting for entries that have not arrived yet.
    mutating func forget() {
        missing = []
        last = ordered
    }

    /// Records an entry that has arrived.
    ///
    /// - Throws: ``ConformanceFailure`` if an earlier entry is missing, or if this entry is repeated without
    ///   a kill.
    mutating func received(_ number: UInt32) throws(ConformanceFailure) {
        count += 1
        defer { last = number }
        if number <= last {
            guard isRepeatPossible else {
                throw ConformanceFailure(description: "Entry \(number) has arrived after \(last).")
            }
            isRepeatPossible = false
            longestRepeat = max(longestRepeat, last - number + 1)
        }
        missing.remove(number)
        if let lost = missing.filter({ $0 < number }).min() {
            missing.remove(lost)
            throw ConformanceFailure(description: "Entry \(lost) is lost: \(number) arrived after \(last).")
        }
    }
}
