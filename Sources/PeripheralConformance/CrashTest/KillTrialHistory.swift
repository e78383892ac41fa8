/// What a ``KillTrialPeripheral`` is like at an instant.
struct KillTrialState: Hashable, Sendable, CustomStringConvertible {
    var first: UInt32 = 0
    var second: UInt32 = 0
    var durable: UInt32 = 0
    var isSubscribed = false

    var description: String {
        "(\(first), \(second), \(durable), \(isSubscribed ? "subscribed" : "not subscribed"))"
    }
}

/// What the peripheral was like from its start on, one change after the other, and what of it must not be lost.
///
/// A change takes effect at some instant between its beginning and its end.
struct KillTrialHistory: Sendable {
    private struct Step {
        var state: KillTrialState
        /// When the change that led to it was known to have taken effect; `nil` while it is under way.
        var end: ContinuousClock.Instant?
    }

    private var steps: [Step]
    /// The first state that may be found after a kill.
    private var oldest = 0

    /// Begins with a state that is preserved.
    init(from state: KillTrialState = KillTrialState()) {
        steps = [Step(state: state, end: .now)]
    }

    /// The state that is reached when all that was begun has taken effect.
    var latest: KillTrialState { steps[steps.count - 1].state }

    /// The number of the last change that has taken effect.
    var lastEnded: Int { steps.lastIndex { $0.end != nil } ?? 0 }

    /// Takes note of a change that begins.
    mutating func begin(_ change: (inout KillTrialState) -> Void) {
        var state = latest
        change(&state)
        steps.append(Step(state: state))
    }

    /// Takes note that the change has taken effect.
    ///
    /// - Parameters:
    ///   - time: When it had, or later.
    ///   - isPreserved: Whether it, and with it all before, is known to be preserved.
    mutating func end(at time: ContinuousClock.Instant, isPreserved: Bool) {
        steps[steps.count - 1].end = time
        if isPreserved { preserved(upTo: steps.count - 1) }
    }

    /// Takes note that all up to this change is preserved.
    mutating func preserved(upTo step: Int) {
        oldest = max(oldest, step)
    }

    /// Judges what was found after a kill.
    ///
    /// - Parameters:
    ///   - state: What was found.
    ///   - kill: When the program was killed, or before.
    /// - Returns: How long before the kill that was last true; zero when it still was.
    /// - Throws: ``ConformanceFailure`` when it never was, or something is lost that was acknowledged as durable.
    func age(of state: KillTrialState, at kill: ContinuousClock.Instant) throws(ConformanceFailure)
        -> Duration
    {
        guard let index = steps.lastIndex(where: { $0.state == state }) else {
            throw ConformanceFailure(
                description: "\(state) was restored, which never was; the last were "
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

/// The numbered entries that a subscriber has to be told of, whatever becomes of the program.
struct KillTrialEntries: Sendable {
    /// The number of the last entry that the program was told to send.
    private(set) var ordered: UInt32 = 0
    /// Those that the program said to be preserved, and that have not come yet.
    private var missing: Set<UInt32> = []
    /// The number of the last one that has come.
    private var last: UInt32 = 0
    private var isRepeatPossible = false
    /// How many have come.
    private(set) var count = 0
    /// How many have come a second time after one kill, at most.
    private(set) var longestRepeat: UInt32 = 0

    mutating func order() -> UInt32 {
        ordered += 1
        return ordered
    }

    mutating func kept(_ number: UInt32) {
        if number > last { missing.insert(number) }
    }

    /// Takes note that the program is gone, so that the next one may begin with entries that have come already.
    mutating func killed() {
        isRepeatPossible = true
    }

    /// Gives up whatever has not come yet.
    mutating func forget() {
        missing = []
        last = ordered
    }

    /// Takes note of an entry that has come.
    ///
    /// - Throws: ``ConformanceFailure`` when one before it is missing, or it has come before without need.
    mutating func received(_ number: UInt32) throws(ConformanceFailure) {
        count += 1
        defer { last = number }
        if number <= last {
            guard isRepeatPossible else {
                throw ConformanceFailure(description: "Entry \(number) has come after \(last).")
            }
            isRepeatPossible = false
            longestRepeat = max(longestRepeat, last - number + 1)
        }
        missing.remove(number)
        if let lost = missing.filter({ $0 < number }).min() {
            missing.remove(lost)
            throw ConformanceFailure(description: "Entry \(lost) is lost: \(number) has come after \(last).")
        }
    }
}
