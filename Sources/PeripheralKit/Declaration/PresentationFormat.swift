internal import PeripheralCore

/// How a characteristic's value is to be shown to people: its type, its scale and its unit (Core Specification,
/// Vol 3, Part G, 3.3.3.5).
///
/// ```swift
/// // 2156 stands for 21.56 °C.
/// PresentationFormat(.sint16, exponent: -2, unit: .degreeCelsius)
/// ```
///
/// A characteristic whose value is made of several parts has a format for each, and an ``AggregateFormat``. Keep the
/// format in a constant to name it there; copies are the same format.
public struct PresentationFormat: Sendable {
    /// The type of the value on the air.
    public let type: FormatType

    /// The power of ten by which an integer is multiplied.
    public let exponent: Int8

    /// The unit.
    public let unit: Unit

    /// Which of several alike this is, or `.unknown`.
    public let description: Description

    let declaration: DescriptorDeclaration

    /// Declares a format.
    ///
    /// - Parameters:
    ///   - type: The type of the value on the air.
    ///   - exponent: The power of ten by which the value is multiplied; 0 for a type that is no integer.
    ///   - unit: The unit.
    ///   - description: Which of several alike this is.
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

    /// The name space of the descriptions: that of the Bluetooth SIG, the only one there is.
    private static let bluetoothNamespace: UInt8 = 0x01
}
