internal import PeripheralCore
internal import PeripheralKit

extension Advertisement {
    /// What a version of BlueZ reports of the advertisement, on an adapter that is not known.
    ///
    /// What every adapter refuses is an error. What only some refuse is a warning that names them.
    ///
    /// - Parameters:
    ///   - version: The version of BlueZ.
    ///   - element: What the issues call the advertisement.
    /// - Returns: The issues.
    func issues(for version: BlueZVersion, named element: String) -> [DeclarationIssue] {
        let extended = plan(for: .extended(version), named: element).issues
        // A secondary channel exists on Bluetooth 5 only.
        let legacy = secondaryChannel == nil ? plan(for: .legacy(version), named: element).issues : extended
        return [DeclarationIssue].errors(onLegacy: legacy, onExtended: extended)
            + extended.filter { $0.severity == .warning }
    }
}
