internal import PeripheralCore

/// The format of a value that is made of several parts: the ``PresentationFormat`` of each, in their order (Core
/// Specification, Vol 3, Part G, 3.3.3.6).
///
/// ```swift
/// Characteristic<Position>("5c3a0005-7e3c-4b6e-9d29-b3f1c0a1d001", .notify) {
///     PresentationFormat(.sint32, exponent: -7, unit: .degree, description: .first)
///     PresentationFormat(.sint32, exponent: -7, unit: .degree, description: .second)
///     AggregateFormat()
/// }
/// ```
///
/// The descriptor holds the formats' handles on the air; the Bluetooth stack tells them.
public struct AggregateFormat: Sendable {
    /// Which presentation formats are meant.
    package enum Parts: Sendable {
        /// Those of the characteristic, in their order.
        case ofCharacteristic
        /// These, wherever they stand.
        case named([DeclarationIdentity])
    }

    let declaration: DescriptorDeclaration

    /// Names all presentation formats of the characteristic, in their order.
    public init() {
        self.init(.ofCharacteristic)
    }

    /// Names presentation formats, also of other characteristics of the peripheral.
    ///
    /// - Parameter parts: The formats in the order of the parts, by the constants that stand in the declaration.
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
