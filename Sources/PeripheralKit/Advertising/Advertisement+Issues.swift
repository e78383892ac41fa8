internal import PeripheralCore

extension Advertisement {
    /// Returns the issues of the advertisement on a version of BlueZ and an unknown adapter.
    ///
    /// An advertisement that every adapter refuses is an error. If only some adapters refuse it, the issue is
    /// a warning that names them.
    ///
    /// - Parameters:
    ///   - version: The version of BlueZ.
    ///   - element: The name of the advertisement in the issues.
    ///   - withWarnings: Whether to include warnings about what is sent differently from the declaration.
    /// - Returns: The issues.
    package func issues(
        for version: BlueZVersion,
        named element: String,
        withWarnings: Bool
    ) -> [DeclarationIssue] {
        let extended = plan(for: .extended(version), named: element).issues
        // An advertisement with a secondary channel is meant for Bluetooth 5 only.
        let legacy = secondaryChannel == nil ? plan(for: .legacy(version), named: element).issues : extended
        return Self.errors(of: legacy, unlessIn: extended, kept: true, on: "Bluetooth 4")
            + Self.errors(of: extended, unlessIn: legacy, kept: false, on: "Bluetooth 5")
            + (withWarnings ? extended.filter { $0.severity == .warning } : [])
    }

    /// Returns the errors.
    ///
    /// Those that the other adapter does not have become warnings.
    private static func errors(
        of issues: [DeclarationIssue],
        unlessIn others: [DeclarationIssue],
        kept keepsCommon: Bool,
        on adapter: String
    ) -> [DeclarationIssue] {
        issues.compactMap { issue in
            guard issue.severity == .error else { return nil }
            if others.contains(where: { $0.severity == .error && $0.element == issue.element }) {
                return keepsCommon ? issue : nil
            }
            return DeclarationIssue(
                severity: .warning,
                element: issue.element,
                reason: "on a \(adapter) adapter, \(issue.reason)",
                remedy: issue.remedy
            )
        }
    }
}
