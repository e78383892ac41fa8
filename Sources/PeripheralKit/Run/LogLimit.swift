package import Logging
private import Synchronization

/// Limits the number of log lines that outsiders can cause, so that they cannot fill the log.
///
/// The limit applies to lines at notice level or above. Five lines of each kind pass at once, and then one
/// line per minute. The next line that passes reports in `peripheral.suppressed` the number of lines of the
/// same kind that were suppressed before. ``end()`` reports the suppressed lines that no further line
/// reported.
///
/// The kind of a line is its message, its level and each ``LogDetail`` in its metadata. Therefore, a message
/// must be constant or consist of declared texts. Values that an outsider can vary belong in other metadata.
/// Under these conditions, both the number of lines and the memory for the kinds are limited. If a message
/// has too many details at once, further details share one kind. The kinds of other messages are not
/// affected.
package final class LogLimit: Sendable {
    static let burst = 5
    static let interval = Duration.seconds(60)

    /// The maximum number of kinds of a message, not including the kind that further details share.
    static let detailCapacity = 64

    private struct Line: Hashable {
        var message: String
        var level: Logger.Level
    }

    private struct Kind {
        /// The end of the minutes that lines have used.
        ///
        /// Each line that passes uses one minute.
        var usedUp: Duration
        var suppressed = 0
    }

    private let stopwatch: Stopwatch
    private let logger: Logger
    /// The kinds of each line, by details; `nil` is the key of the kind that further details share.
    private let kinds = Mutex<[Line: [String?: Kind]]>([:])

    /// - Parameters:
    ///   - logger: The log.
    ///   - clock: The clock that measures the minutes.
    package init(of logger: Logger, clock: any Clock<Duration>) {
        self.logger = logger
        stopwatch = Stopwatch(clock)
    }

    /// The log with the limit.
    package var limited: Logger {
        var limited = logger
        limited.handler = LimitedHandler(base: logger.handler, limit: self)
        return limited
    }

    /// Reports how many lines of each kind were suppressed since the last line of the kind.
    package func end() {
        let kinds = kinds.withLock { kinds in
            defer { kinds = [:] }
            return kinds
        }
        for (line, details) in kinds.sorted(by: { $0.key.message < $1.key.message }) {
            let suppressed = details.values.reduce(0) { $0 + $1.suppressed }
            guard suppressed > 0 else { continue }
            logger.log(
                level: line.level,
                "Log messages were omitted because too many messages were of the same kind.",
                metadata: ["peripheral.line": "\(line.message)", "peripheral.suppressed": "\(suppressed)"]
            )
        }
    }

    /// Counts a line.
    ///
    /// - Returns: The number of lines of the same kind that were suppressed before this line; `nil` if this
    ///   line is also suppressed.
    fileprivate func admit(_ event: LogEvent) -> Int? {
        let line = Line(message: event.message.description, level: event.level)
        let detail = LogDetail.kind(of: event.metadata)
        let now = stopwatch.elapsed()
        return kinds.withLock { kinds in
            Self.admit(detail, to: &kinds[line, default: [:]], at: now)
        }
    }

    private static func admit(_ detail: String, to kinds: inout [String?: Kind], at now: Duration) -> Int? {
        var key: String? = detail
        if kinds[key] == nil, isFull(kinds) {
            // A kind without used minutes and suppressed lines can be removed, because it is equal to a new
            // kind.
            kinds = kinds.filter { $0.value.usedUp > now || $0.value.suppressed > 0 }
            if isFull(kinds) { key = nil }
        }
        var kind = kinds[key] ?? Kind(usedUp: now)
        defer { kinds[key] = kind }
        let usedUp = max(kind.usedUp, now) + interval
        guard usedUp <= now + interval * burst else {
            kind.suppressed += 1
            return nil
        }
        let suppressed = kind.suppressed
        (kind.usedUp, kind.suppressed) = (usedUp, 0)
        return suppressed
    }

    private static func isFull(_ kinds: [String?: Kind]) -> Bool {
        kinds.keys.count { $0 != nil } >= detailCapacity
    }
}

/// A metadata value that divides lines with the same message into kinds, see ``LogLimit``.
struct LogDetail: CustomStringConvertible, Sendable {
    let description: String
    let kind: String

    /// The kind that results from the details in the metadata.
    static func kind(of metadata: Logger.Metadata?) -> String {
        guard let metadata else { return "" }
        let kinds = metadata.compactMap { key, value -> (String, String)? in
            guard case .stringConvertible(let value) = value, let detail = value as? LogDetail else {
                return nil
            }
            return (key, detail.kind)
        }
        return kinds.sorted(by: <).map(\.1).joined(separator: "; ")
    }
}

extension Logger.MetadataValue {
    /// Creates a metadata value from a limited set of declared or defined values.
    ///
    /// A flood of lines with one of these values never suppresses a line with another value.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - kind: The part of the value from a limited set, if the whole value is not from a limited set.
    /// - Returns: The value for the metadata.
    package static func bounded(_ value: String, by kind: String? = nil) -> Self {
        .stringConvertible(LogDetail(description: value, kind: kind ?? value))
    }
}

/// Logs the lines that a ``LogLimit`` admits.
private struct LimitedHandler: LogHandler {
    var base: any LogHandler
    let limit: LogLimit

    func log(event: LogEvent) {
        guard event.level >= .notice else { return base.log(event: event) }
        guard let suppressed = limit.admit(event) else { return }
        guard suppressed > 0 else { return base.log(event: event) }
        var event = event
        event.metadata = (event.metadata ?? [:]).merging(["peripheral.suppressed": "\(suppressed)"]) { $1 }
        base.log(event: event)
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { base[metadataKey: key] }
        set { base[metadataKey: key] = newValue }
    }

    var metadata: Logger.Metadata {
        get { base.metadata }
        set { base.metadata = newValue }
    }

    var logLevel: Logger.Level {
        get { base.logLevel }
        set { base.logLevel = newValue }
    }

    var metadataProvider: Logger.MetadataProvider? {
        get { base.metadataProvider }
        set { base.metadataProvider = newValue }
    }
}
