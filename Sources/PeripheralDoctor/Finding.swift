package import PeripheralBlueZModel

/// A result of the examination.
package struct Finding: Hashable, Sendable {
    /// The severity of a finding.
    package enum Severity: String, Hashable, Sendable, CaseIterable, Comparable {
        /// The examination has found no problem.
        case ok
        /// Useful information.
        case note
        /// A peripheral can run on the machine, but a failure is likely.
        case warning
        /// No peripheral can run on the machine.
        case error

        /// Returns whether the first severity is milder than the second.
        package static func < (milder: Severity, worse: Severity) -> Bool {
            (allCases.firstIndex(of: milder) ?? 0) < (allCases.firstIndex(of: worse) ?? 0)
        }
    }

    /// The part of the machine, or the name of an adapter.
    package var subject: String
    /// The kind of finding, for programs.
    ///
    /// The code stays the same when the texts change.
    package var code: String
    package var severity: Severity
    /// The fact that was found.
    package var summary: String
    /// The effect on a peripheral.
    package var reason: String?
    /// The way to fix the problem.
    package var remedy: String?
    /// A shell command, if one command fixes the problem.
    package var command: String?
    /// The changes of bluetoothd's configuration that fix the problem.
    package var changes: [SettingChange]

    package init(
        _ severity: Severity,
        _ subject: String,
        _ code: String,
        _ summary: String,
        reason: String? = nil,
        remedy: String? = nil,
        command: String? = nil,
        changes: [SettingChange] = []
    ) {
        self.severity = severity
        self.subject = subject
        self.code = code
        self.summary = summary
        self.reason = reason
        self.remedy = remedy
        self.command = command
        self.changes = changes
    }
}

extension Finding {
    init(_ issue: SettingIssue, subject: String) {
        self.init(
            Severity(rawValue: issue.severity.rawValue) ?? .note,
            subject,
            issue.code,
            issue.summary,
            reason: issue.reason,
            remedy: issue.remedy,
            changes: issue.changes
        )
    }
}
