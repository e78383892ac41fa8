internal import PeripheralCore

extension Advertisement {
    /// What a version of BlueZ makes of the advertisement, on an adapter that is not known.
    ///
    /// What every adapter refuses is an error; what only some refuse is a warning that says which.
    ///
    /// - Parameters:
    ///   - version: The version of BlueZ.
    ///   - element: What the issues call the advertisement.
    ///   - withWarnings: Whether to tell as well what is merely not as it seems.
    /// - Returns: The issues.
    package func issues(
        for version: BlueZVersion,
        named element: String,
        withWarnings: Bool
    ) -> [DeclarationIssue] {
        let extended = plan(for: .extended(version), named: element).issues
        // Who names a secondary channel means Bluetooth 5.
        let legacy = secondaryChannel == nil ? plan(for: .legacy(version), named: element).issues : extended
        return Self.errors(of: legacy, unlessIn: extended, kept: true, on: "Bluetooth 4")
            + Self.errors(of: extended, unlessIn: legacy, kept: false, on: "Bluetooth 5")
            + (withWarnings ? extended.filter { $0.severity == .warning } : [])
    }

    /// The errors: as they are where the other adapter has them too, and otherwise as warnings.
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
