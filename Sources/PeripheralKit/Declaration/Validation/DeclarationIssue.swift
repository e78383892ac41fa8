/// An error or a warning about the declaration of a ``Peripheral``.
public struct DeclarationIssue: Hashable, Sendable, CustomStringConvertible {
    /// The severity of an issue.
    public enum Severity: Hashable, Sendable {
        /// The peripheral cannot be published.
        case error
        /// The peripheral can be published, but behaves differently from the declaration in some way.
        case warning
    }

    /// The severity of the issue.
    public let severity: Severity

    /// The element with the issue, such as `characteristic 2a37 of service 180d`.
    public let element: String

    /// The problem of the element.
    public let reason: String

    /// The remedy for the problem.
    public let remedy: String

    /// Creates an issue, for ``StackProfile``.
    ///
    /// - Parameters:
    ///   - severity: The severity of the issue.
    ///   - element: The element with the issue, such as `characteristic 2a37 of service 180d`.
    ///   - reason: The problem of the element.
    ///   - remedy: The remedy for the problem.
    public init(severity: Severity, element: String, reason: String, remedy: String) {
        self.severity = severity
        self.element = element
        self.reason = reason
        self.remedy = remedy
    }

    /// The issue as one line of text.
    public var description: String {
        "\(element): \(reason); \(remedy)"
    }
}

/// An error for an invalid declaration of a ``Peripheral``.
///
/// The peripheral was not published.
public struct DeclarationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// All errors, in the order of the declaration.
    public let issues: [DeclarationIssue]

    /// Creates an error from issues whose severity is `error`.
    ///
    /// Backends use this initializer.
    public init(issues: [DeclarationIssue]) {
        self.issues = issues
    }

    /// The issues, with one line of text for each issue.
    public var description: String {
        issues.map(\.description).joined(separator: "\n")
    }
}
