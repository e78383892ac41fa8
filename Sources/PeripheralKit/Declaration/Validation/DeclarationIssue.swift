/// An error or a warning about the declaration of a ``Peripheral``.
public struct DeclarationIssue: Hashable, Sendable, CustomStringConvertible {
    /// The severity of an issue.
    public enum Severity: Hashable, Sendable {
        /// The peripheral cannot be published.
        case error
        /// The peripheral can be published, but does not behave in every way as declared.
        case warning
    }

    /// The severity.
    public let severity: Severity

    /// The element, such as `characteristic 2a37 of service 180d`.
    public let element: String

    /// What is wrong with the element.
    public let reason: String

    /// What to do about it.
    public let remedy: String

    /// Creates an issue, for ``StackProfile``.
    ///
    /// - Parameters:
    ///   - severity: The severity.
    ///   - element: The element, such as `characteristic 2a37 of service 180d`.
    ///   - reason: What is wrong with the element.
    ///   - remedy: What to do about it.
    public init(severity: Severity, element: String, reason: String, remedy: String) {
        self.severity = severity
        self.element = element
        self.reason = reason
        self.remedy = remedy
    }

    /// The issue in one line.
    public var description: String {
        "\(element): \(reason); \(remedy)"
    }
}

/// An error for an invalid declaration of a ``Peripheral``.
///
/// Nothing was published.
public struct DeclarationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// All errors, in the order of the declaration.
    public let issues: [DeclarationIssue]

    /// Creates an error from issues whose severity is `error`.
    ///
    /// For backends.
    public init(issues: [DeclarationIssue]) {
        self.issues = issues
    }

    /// One line for each issue.
    public var description: String {
        issues.map(\.description).joined(separator: "\n")
    }
}
