internal import Logging
private import Synchronization

/// The log lines of each kind that have passed or were suppressed, see ``LogLimit``.
///
/// A history lasts longer than a run. Otherwise, a program that runs a peripheral again for each central
/// would allow each central the lines of a whole run.
package final class LogHistory: Sendable {
    static let burst = 5
    static let interval = Duration.seconds(60)

    /// The maximum number of kinds of a message, not including the kind that further details share.
    static let detailCapacity = 64

    /// A message and its level.
    struct Line: Hashable {
        var message: String
        var level: Logger.Level
    }

    private struct Kind {
        /// The end of the minutes that lines have used.
        ///
        /// Each line that passes uses one minute.
        var usedUp: Duration
        var suppressed = 0

        init(at now: Duration) {
            usedUp = now
        }

        /// Whether this kind is equal to a new kind.
        func isIdle(at now: Duration) -> Bool { usedUp <= now && suppressed == 0 }

        /// Counts a line.
        ///
        /// - Returns: The number of lines that were suppressed before this line; `nil` if this line is also
        ///   suppressed.
        mutating func admit(at now: Duration) -> Int? {
            let end = max(usedUp, now) + interval
            guard end <= now + interval * burst else {
                suppressed += 1
                return nil
            }
            defer { (usedUp, suppressed) = (end, 0) }
            return suppressed
        }
    }

    private struct State {
        var stopwatch: Stopwatch?
        /// The kinds of each line, by details; `nil` is the key of the kind that further details share.
        var kinds: [Line: [String?: Kind]] = [:]
        /// The reports about the suppressed lines of a message.
        var reports: [Line: Kind] = [:]

        var now: Duration { stopwatch?.elapsed() ?? .zero }
    }

    private let state = Mutex(State())

    /// The history of all peripherals on the system bus.
    package static let ofProcess = LogHistory()

    package init() {}

    /// Measures the minutes by a clock, unless an earlier run has begun.
    func begin(by clock: any Clock<Duration>) {
        state.withLock { state in
            if state.stopwatch == nil { state.stopwatch = Stopwatch(clock) }
        }
    }

    /// Counts a line.
    ///
    /// - Returns: The number of lines of the same kind that were suppressed before this line; `nil` if this
    ///   line is also suppressed.
    func admit(_ event: LogEvent) -> Int? {
        let line = Line(message: event.message.description, level: event.level)
        let detail = LogDetail.kind(of: event.metadata)
        return state.withLock { state in
            Self.admit(detail, to: &state.kinds[line, default: [:]], at: state.now)
        }
    }

    private static func admit(_ detail: String, to kinds: inout [String?: Kind], at now: Duration) -> Int? {
        var key: String? = detail
        if kinds[key] == nil, isFull(kinds) {
            kinds = kinds.filter { !$0.value.isIdle(at: now) }
            if isFull(kinds) { key = nil }
        }
        return kinds[key, default: Kind(at: now)].admit(at: now)
    }

    private static func isFull(_ kinds: [String?: Kind]) -> Bool {
        kinds.keys.count { $0 != nil } >= detailCapacity
    }

    /// Takes the numbers of suppressed lines, as far as the limit allows to report them.
    func takeSuppressed() -> [(Line, Int)] {
        state.withLock { state in
            let now = state.now
            var reports: [(Line, Int)] = []
            for line in state.kinds.keys.sorted(by: { $0.message < $1.message }) {
                let suppressed = state.kinds[line]?.values.reduce(0) { $0 + $1.suppressed } ?? 0
                guard suppressed > 0, state.reports[line, default: Kind(at: now)].admit(at: now) != nil else {
                    continue
                }
                state.kinds[line] = state.kinds[line]?.mapValues { kind in
                    var kind = kind
                    kind.suppressed = 0
                    return kind
                }
                reports.append((line, suppressed))
            }
            return reports
        }
    }
}
