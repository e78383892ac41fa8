/// An error or a warning about the declaration of a ``Peripheral``.
public struct DeclarationIssue: Hashable, Sendable, CustomStringConvertible {
    /// The severity of an issue.
    public enum Severity: Hashable, Sendable {
        /// The peripheral cannot be published.
        case error
        /// The peripheral can be published, but its behavior differs from the declaration.
        case warning
    }

    /// The severity of the issue.
    public let severity: Severity

    /// The declared element that has the issue, such as `characteristic 2a37 of service 180d`.
    ///
    /// If a characteristic has a constant ``UserDescription``, the text contains the description. If a
    /// ``StackProfile`` finds the same issue in several elements, the text can name all of them.
    public let element: String

    /// A description of the problem.
    public let reason: String

    /// A description of how to solve the problem.
    public let remedy: String

    /// Creates an issue that a ``StackProfile`` can return.
    ///
    /// - Parameters:
    ///   - severity: The severity of the issue.
    ///   - element: The declared element that has the issue, such as `characteristic 2a37 of service 180d`.
    ///   - reason: A description of the problem.
    ///   - remedy: A description of how to solve the problem.
    public init(severity: Severity, element: String, reason: String, remedy: String) {
        self.severity = severity
        self.element = element
        self.reason = reason
        self.remedy = remedy
    }

    /// The issue as one line of text, such as `warning: service 180d: it has no characteristics; …`.
    public var description: String {
        "\(severity == .error ? "error" : "warning"): \(message)"
    }

    /// The issue without its severity, for a log line that has a level.
    package var message: String { "\(element): \(reason); \(remedy)" }
}

/// An error for an invalid declaration of a ``Peripheral``.
///
/// A peripheral with an invalid declaration is not published.
public struct DeclarationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// All issues with the severity `error`, in the order of the declaration.
    public let issues: [DeclarationIssue]

    /// Creates an error from issues with the severity `error`.
    ///
    /// The backends of Bluetooth stacks use this initializer.
    public init(issues: [DeclarationIssue]) {
        self.issues = issues
    }

    /// The issues as text, with one line for each issue.
    public var description: String {
        issues.map(\.description).joined(separator: "\n")
    }
}
