internal import PeripheralCore

/// The format of a value that consists of several parts.
///
/// A Characteristic Aggregate Format descriptor lists the ``PresentationFormat`` of each part of the value,
/// in order (Core Specification, Vol 3, Part G, 3.3.3.6).
///
/// ```swift
/// Characteristic<Position>("5c3a0005-7e3c-4b6e-9d29-b3f1c0a1d001", .notify) {
///     PresentationFormat(.sint32, exponent: -7, unit: .degree, description: .first)
///     PresentationFormat(.sint32, exponent: -7, unit: .degree, description: .second)
///     AggregateFormat()
/// }
/// ```
///
/// The value of the Characteristic Aggregate Format descriptor contains the attribute handles of the
/// presentation formats. The Bluetooth stack assigns the attribute handles.
public struct AggregateFormat: Sendable {
    /// The presentation formats that the Characteristic Aggregate Format descriptor lists.
    package enum Parts: Sendable {
        /// All presentation formats of the characteristic, in the order of the declaration.
        case ofCharacteristic
        /// The presentation formats that the associated value identifies.
        ///
        /// Each presentation format can belong to any characteristic of the peripheral.
        case named([DeclarationIdentity])
    }

    let declaration: DescriptorDeclaration

    /// Lists all presentation formats of the characteristic, in the order of the declaration.
    public init() {
        self.init(.ofCharacteristic)
    }

    /// Lists the given presentation formats.
    ///
    /// The presentation formats can belong to any characteristics of the same peripheral.
    ///
    /// - Parameter parts: One presentation format for each part of the value, in the order of the parts.
    ///   Store each presentation format in a constant, and use the same constant in the declaration of the
    ///   peripheral.
    public init(of parts: PresentationFormat...) {
        self.init(.named(parts.map(\.declaration.identity)))
    }

    private init(_ parts: Parts) {
        declaration = DescriptorDeclaration(
            uuid: .characteristicAggregateFormat,
            access: AttributeAccess(readSources: [.handles(parts)])
        )
    }
}
