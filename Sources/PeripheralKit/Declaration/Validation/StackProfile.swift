/// The rules of a certain Bluetooth stack for the declaration of a peripheral.
///
/// The method ``Peripheral/validate(for:)`` applies the rules of a Bluetooth stack.
///
/// Each backend provides the rules of its Bluetooth stack, as in `peripheral.validate(for: .bluez("5.66"))`.
public protocol StackProfile: Sendable {
    /// Finds the parts of a declaration that the Bluetooth stack refuses or does not implement as declared.
    ///
    /// - Parameter publication: The publication to examine, which contains the validated declaration.
    /// - Returns: The errors and warnings, in the order of the declaration.
    func examine(_ publication: BackendPublication) -> [DeclarationIssue]
}

extension Peripheral {
    /// Examines the declaration for a certain Bluetooth stack.
    ///
    /// The Bluetooth stack need not run on this machine.
    ///
    /// ```swift
    /// @Test func lampRunsOnDebian12() {
    ///     #expect(lampPeripheral.validate(for: .bluez("5.66")) == [])
    /// }
    /// ```
    ///
    /// The method examines only the declaration. The method cannot find problems that appear at run time,
    /// such as:
    ///
    /// - Handlers can throw errors that the Bluetooth stack cannot send to the central.
    /// - Services of other programs can change the handles of services that are not pinned: see
    ///   ``GATTService/handle``.
    ///
    /// - Parameter rules: The rules of the Bluetooth stack, such as `.bluez("5.66")`.
    /// - Returns: The issues of ``validate()``, followed by the issues of the Bluetooth stack. If the
    ///   declaration has errors, the method does not apply the rules of the Bluetooth stack.
    public func validate(for rules: some StackProfile) -> [DeclarationIssue] {
        let issues = validate()
        guard let publication = try? publication() else { return issues }
        return issues + rules.examine(publication)
    }
}
