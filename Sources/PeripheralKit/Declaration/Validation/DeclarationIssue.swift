/// Something that is wrong, or not as it seems, in the declaration of a ``Peripheral``.
public struct DeclarationIssue: Hashable, Sendable, CustomStringConvertible {
    /// How bad it is.
    public enum Severity: Hashable, Sendable {
        /// The peripheral cannot be published.
        case error
        /// The peripheral can be published, but will not do all that is declared.
        case warning
    }

    /// How bad it is.
    public let severity: Severity

    /// The element, such as `characteristic 2a37 of service 180d`.
    public let element: String

    /// What is wrong with it.
    public let reason: String

    /// What to do about it.
    public let remedy: String

    /// Makes an issue, for ``StackRules``.
    ///
    /// - Parameters:
    ///   - severity: How bad it is.
    ///   - element: The element, such as `characteristic 2a37 of service 180d`.
    ///   - reason: What is wrong with it.
    ///   - remedy: What to do about it.
    public init(severity: Severity, element: String, reason: String, remedy: String) {
        self.severity = severity
        self.element = element
        self.reason = reason
        self.remedy = remedy
    }

    /// The issue as one line.
    public var description: String {
        "\(element): \(reason); \(remedy)"
    }
}

/// The declaration of a ``Peripheral`` is invalid; nothing was published.
public struct DeclarationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// All that is wrong, in the order of the declaration.
    public let issues: [DeclarationIssue]

    /// Makes an error, for backends; of issues that are errors.
    public init(issues: [DeclarationIssue]) {
        self.issues = issues
    }

    /// A line for each issue.
    public var description: String {
        issues.map(\.description).joined(separator: "\n")
    }
}
