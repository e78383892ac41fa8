internal import PeripheralCore

/// The type, scale and unit that a central needs to display a value.
///
/// The Core Specification defines presentation formats in Vol 3, Part G, 3.3.3.5.
///
/// ```swift
/// // 2156 stands for 21.56 °C.
/// PresentationFormat(.sint16, exponent: -2, unit: .degreeCelsius)
/// ```
///
/// If a value consists of several parts, declare a presentation format for each part and one
/// ``AggregateFormat``. Store a presentation format in a constant if an ``AggregateFormat`` refers to it. All
/// copies of a `PresentationFormat` value represent the same presentation format.
public struct PresentationFormat: Sendable {
    /// The format type of the encoded value.
    public let type: FormatType

    /// The decimal exponent, which scales an integer value by a power of ten.
    public let exponent: Int8

    /// The unit of the value.
    public let unit: Unit

    /// The description that distinguishes values of the same kind, or `.unknown` for a single value.
    public let description: Description

    let declaration: DescriptorDeclaration

    /// Declares a format.
    ///
    /// - Parameters:
    ///   - type: The format type of the encoded value.
    ///   - exponent: The decimal exponent, which scales an integer value by a power of ten. If the type is
    ///     not an integer type, the exponent must be 0.
    ///   - unit: The unit of the value.
    ///   - description: The description that distinguishes values of the same kind.
    public init(
        _ type: FormatType,
        exponent: Int8 = 0,
        unit: Unit = .unitless,
        description: Description = .unknown
    ) {
        self.type = type
        self.exponent = exponent
        self.unit = unit
        self.description = description
        var writer = ByteWriter()
        writer.write(type.rawValue)
        writer.write(exponent)
        writer.write(unit.rawValue)
        writer.write(Self.bluetoothNamespace)
        writer.write(description.rawValue)
        declaration = Descriptor(.characteristicPresentationFormat, value: writer.bytes).declaration
    }

    /// The namespace of the descriptions, which is the only namespace of the Bluetooth SIG.
    private static let bluetoothNamespace: UInt8 = 0x01
}
