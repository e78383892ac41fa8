/// A setting of bluetoothd, or a default, that affects a peripheral.
package struct SettingIssue: Sendable {
    /// The severity of an issue.
    package enum Severity: String, Sendable {
        /// Useful information.
        case note
        /// A peripheral can run, but a failure is likely.
        case warning
        /// No peripheral can run.
        case error
    }

    package var severity: Severity
    /// The kind of issue, for programs.
    ///
    /// The code stays the same when the texts change.
    package var code: String
    /// The setting or the default.
    package var summary: String
    /// The effect on a peripheral.
    package var reason: String
    /// The way to solve the problem.
    package var remedy: String?
    /// The changes of the configuration that solve the problem.
    package var changes: [SettingChange]

    package init(
        severity: Severity,
        code: String,
        summary: String,
        reason: String,
        remedy: String?,
        changes: [SettingChange]
    ) {
        self.severity = severity
        self.code = code
        self.summary = summary
        self.reason = reason
        self.remedy = remedy
        self.changes = changes
    }
}

extension SettingIssue: CustomStringConvertible {
    /// The setting, its effect, and the remedy.
    package var description: String {
        [summary, reason, remedy].compactMap(\.self).joined(separator: " ")
    }
}

extension [SettingIssue] {
    /// The lines that a run logs: one for each warning, and one for all notes.
    ///
    /// Several notes share a line without their reasons.
    package var lines: [(codes: [String], text: String)] {
        let notes = filter { $0.severity == .note }
        let alone = notes.count == 1 ? self : filter { $0.severity != .note }
        var lines = alone.map { (codes: [$0.code], text: $0.description) }
        if notes.count > 1 {
            let texts = notes.flatMap { [$0.summary, $0.remedy].compactMap(\.self) }
            let text = (texts + ["peripheral-doctor prints the reasons."]).joined(separator: " ")
            lines.append((codes: notes.map(\.code), text: text))
        }
        return lines
    }
}
