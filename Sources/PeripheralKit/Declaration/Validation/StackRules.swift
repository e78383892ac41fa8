/// What a certain Bluetooth stack makes of a declaration: ``Peripheral/validate(for:)`` asks it.
///
/// PeripheralBlueZ has the rules of BlueZ, by its version: `peripheral.validate(for: .bluez("5.66"))`.
public protocol StackRules: Sendable {
    /// Finds what the stack refuses, or does in another way than declared.
    ///
    /// - Parameter publication: What would be published; it is valid as such.
    /// - Returns: The errors and warnings, in the order of the declaration.
    func examine(_ publication: Publication) -> [DeclarationIssue]
}

extension Peripheral {
    /// Examines the declaration for a certain Bluetooth stack, also one that this machine does not have.
    ///
    /// ```swift
    /// @Test func lampRunsOnDebian12() {
    ///     #expect(lampPeripheral.validate(for: .bluez("5.66")) == [])
    /// }
    /// ```
    ///
    /// It examines what is declared. What happens at run time is not seen: errors that handlers throw and the stack cannot
    /// carry, and other programs, whose services move those that are not pinned: see ``GATTService/handle``.
    ///
    /// - Parameter rules: What the stack makes of a declaration, such as `.bluez("5.66")`.
    /// - Returns: The issues of ``validate()``, and those of the stack behind them. A declaration with errors is not
    ///   examined further.
    public func validate(for rules: some StackRules) -> [DeclarationIssue] {
        let issues = validate()
        guard let publication = try? publication() else { return issues }
        return issues + rules.examine(publication)
    }
}
