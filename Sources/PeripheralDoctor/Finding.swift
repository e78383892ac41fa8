/// What the examination says about one thing.
package struct Finding: Hashable, Sendable {
    /// How bad it is.
    package enum Severity: String, Hashable, Sendable, CaseIterable, Comparable {
        /// As it should be.
        case ok
        /// Good to know.
        case note
        /// A peripheral runs, but something is likely to go wrong.
        case warning
        /// No peripheral can run.
        case error

        /// Whether the first is less bad.
        package static func < (milder: Severity, worse: Severity) -> Bool {
            (allCases.firstIndex(of: milder) ?? 0) < (allCases.firstIndex(of: worse) ?? 0)
        }
    }

    /// What it is about: a part of the machine, or the name of an adapter.
    package var subject: String
    /// Names the kind of finding, for programs; it stays the same when the words change.
    package var code: String
    package var severity: Severity
    /// What was found.
    package var summary: String
    /// Why it matters to a peripheral.
    package var reason: String?
    /// What to do about it.
    package var remedy: String?
    /// What to type, where that is all there is to do.
    package var command: String?

    package init(
        _ severity: Severity,
        _ subject: String,
        _ code: String,
        _ summary: String,
        reason: String? = nil,
        remedy: String? = nil,
        command: String? = nil
    ) {
        self.severity = severity
        self.subject = subject
        self.code = code
        self.summary = summary
        self.reason = reason
        self.remedy = remedy
        self.command = command
    }
}
