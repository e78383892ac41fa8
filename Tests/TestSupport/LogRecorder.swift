package import Logging
private import Synchronization

/// A log that a test reads.
package final class LogRecorder: Sendable {
    private struct Handler: LogHandler {
        let recorder: LogRecorder
        var logLevel: Logger.Level
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let values = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.value)" }
            recorder.entries.withLock {
                $0.append("\(event.level): \(event.message) [\(values.joined(separator: "; "))]")
            }
        }
    }

    private let entries = Mutex<[String]>([])

    private let level: Logger.Level

    /// Creates a log of the lines at a level or above.
    package init(from level: Logger.Level = .notice) {
        self.level = level
    }

    package var lines: [String] { entries.withLock(\.self) }

    package var logger: Logger { Logger(label: "recorder") { _ in Handler(recorder: self, logLevel: level) } }
}
