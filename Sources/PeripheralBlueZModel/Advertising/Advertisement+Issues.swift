internal import PeripheralCore
internal import PeripheralKit

extension Advertisement {
    /// Returns the issues of the advertisement on a version of BlueZ and an unknown adapter.
    ///
    /// If every adapter refuses the advertisement, the issue is an error. If only some adapters refuse the
    /// advertisement, the issue is a warning that names these adapters.
    ///
    /// - Parameters:
    ///   - version: The version of BlueZ.
    ///   - element: The name of the advertisement in the issues.
    /// - Returns: The issues.
    func issues(for version: BlueZVersion, named element: String) -> [DeclarationIssue] {
        let extended = plan(for: .extended(version), named: element).issues
        // A secondary channel exists on Bluetooth 5 only.
        let legacy = secondaryChannel == nil ? plan(for: .legacy(version), named: element).issues : extended
        return [DeclarationIssue].errors(onLegacy: legacy, onExtended: extended)
            + extended.filter { $0.severity == .warning }
    }
}
