/// The rules of a certain Bluetooth stack for declarations, used by ``Peripheral/validate(for:)``.
///
/// A backend provides the rules of its stack, such as `peripheral.validate(for: .bluez("5.66"))`.
public protocol StackProfile: Sendable {
    /// Finds what the stack refuses or does differently from the declaration.
    ///
    /// - Parameter publication: The validated publication to examine.
    /// - Returns: The errors and warnings, in the order of the declaration.
    func examine(_ publication: BackendPublication) -> [DeclarationIssue]
}

extension Peripheral {
    /// Examines the declaration for a certain Bluetooth stack, even one that this machine does not have.
    ///
    /// ```swift
    /// @Test func lampRunsOnDebian12() {
    ///     #expect(lampPeripheral.validate(for: .bluez("5.66")) == [])
    /// }
    /// ```
    ///
    /// It examines only the declaration. It cannot find problems of the run time, such as:
    ///
    /// - errors that handlers throw and the stack cannot carry;
    /// - other programs, whose services move services that are not pinned: see ``GATTService/handle``.
    ///
    /// - Parameter rules: The rules of the stack, such as `.bluez("5.66")`.
    /// - Returns: The issues of ``validate()``, followed by those of the stack. If the declaration has
    ///   errors, the stack's rules are not applied.
    public func validate(for rules: some StackProfile) -> [DeclarationIssue] {
        let issues = validate()
        guard let publication = try? publication() else { return issues }
        return issues + rules.examine(publication)
    }
}
