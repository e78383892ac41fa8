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
}

extension SettingIssue: CustomStringConvertible {
    /// The setting, its effect, and the remedy.
    package var description: String {
        [summary, reason, remedy].compactMap(\.self).joined(separator: " ")
    }
}
