/// The rules that a certain Bluetooth stack imposes on the declaration of a peripheral.
///
/// The method ``Peripheral/validate(for:)`` applies the rules of a Bluetooth stack.
///
/// Each backend provides the rules of its Bluetooth stack, such as `.bluez("5.66")`.
public protocol StackProfile: Sendable {
    /// Finds the declared elements that the Bluetooth stack does not support.
    ///
    /// The Bluetooth stack either refuses an unsupported element, or implements the element differently from
    /// the declaration.
    ///
    /// - Parameter publication: The publication to examine, which contains the validated declaration.
    /// - Returns: The errors and warnings, in the order of the declaration.
    func examine(_ publication: BackendPublication) -> [DeclarationIssue]
}
