package import Logging

/// Limits the number of log lines that outsiders can cause, so that they cannot fill the log.
///
/// The limit applies to lines at info level or above, because info is the level of a new logger. A program
/// uses the levels debug and trace only to watch the peripheral, and then needs each line. Five lines of each
/// kind pass at once, and then one line per minute. The next line that passes reports in
/// `peripheral.suppressed` the number of lines of the same kind that were suppressed before. ``end()``
/// reports the suppressed lines that no further line reported. A ``LogHistory`` counts the lines, also those
/// of earlier runs.
///
/// The kind of a line is its message, its level and each ``LogDetail`` in its metadata. Therefore, a message
/// must be constant or consist of declared texts. Values that an outsider can vary belong in other metadata.
/// Under these conditions, both the number of lines and the memory for the kinds are limited. If a message
/// has too many details at once, further details share one kind. The kinds of other messages are not
/// affected.
package struct LogLimit: Sendable {
    private let logger: Logger
    private let history: LogHistory

    /// - Parameters:
    ///   - logger: The log.
    ///   - history: The lines that have passed before.
    ///   - clock: The clock that measures the minutes, unless the history has one.
    package init(of logger: Logger, after history: LogHistory = LogHistory(), clock: any Clock<Duration>) {
        self.logger = logger
        self.history = history
        history.begin(by: clock)
    }

    /// The log with the limit.
    package var limited: Logger {
        var limited = logger
        limited.handler = LimitedHandler(base: logger.handler, history: history)
        return limited
    }

    /// Reports how many lines of each kind were suppressed since the last line of the kind.
    ///
    /// These reports have the same limit. Lines that are not reported now are reported later.
    package func end() {
        for (line, suppressed) in history.takeSuppressed() {
            logger.log(
                level: line.level,
                "Log messages were omitted because too many messages were of the same kind.",
                metadata: [
                    "peripheral.line": .bounded(line.message),
                    "peripheral.suppressed": "\(suppressed)",
                ]
            )
        }
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
    let history: LogHistory

    func log(event: LogEvent) {
        guard event.level >= .info else { return base.log(event: event) }
        guard let suppressed = history.admit(event) else { return }
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
