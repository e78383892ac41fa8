/// The rules of a certain Bluetooth stack for declarations, used by ``Peripheral/validate(for:)``.
///
/// A backend provides the rules of its stack, such as `peripheral.validate(for: .bluez("5.66"))`.
public protocol StackProfile: Sendable {
    /// Finds the parts of a declaration that the stack refuses or implements differently.
    ///
    /// - Parameter publication: The validated publication to examine.
    /// - Returns: The errors and warnings, in the order of the declaration.
    func examine(_ publication: BackendPublication) -> [DeclarationIssue]
}

extension Peripheral {
    /// Examines the declaration for a certain Bluetooth stack.
    ///
    /// This machine does not have to run that stack.
    ///
    /// ```swift
    /// @Test func lampRunsOnDebian12() {
    ///     #expect(lampPeripheral.validate(for: .bluez("5.66")) == [])
    /// }
    /// ```
    ///
    /// The function examines only the declaration. The function cannot find problems that appear at run time,
    /// such as:
    ///
    /// - Handlers can throw errors that the stack cannot send to the central.
    /// - Services of other programs. Such services can move the services of this peripheral that are not
    ///   pinned: see ``GATTService/handle``.
    ///
    /// - Parameter rules: The rules of the stack, such as `.bluez("5.66")`.
    /// - Returns: The issues of ``validate()``, followed by the issues of the stack. If the declaration has
    ///   errors, the rules of the stack are not applied.
    public func validate(for rules: some StackProfile) -> [DeclarationIssue] {
        let issues = validate()
        guard let publication = try? publication() else { return issues }
        return issues + rules.examine(publication)
    }
}
