internal import PeripheralCore

/// How to present a characteristic's value to people: its type, scale and unit.
///
/// See Core Specification, Vol 3, Part G, 3.3.3.5.
///
/// ```swift
/// // 2156 stands for 21.56 °C.
/// PresentationFormat(.sint16, exponent: -2, unit: .degreeCelsius)
/// ```
///
/// If a value consists of several parts, declare a format for each, and an ``AggregateFormat``. Keep a format
/// in a constant to refer to it there. Copies are the same format.
public struct PresentationFormat: Sendable {
    /// The type of the value on the air.
    public let type: FormatType

    /// The power of ten that an integer is multiplied by.
    public let exponent: Int8

    /// The unit.
    public let unit: Unit

    /// Distinguishes several values of the same kind; `.unknown` if there is only one.
    public let description: Description

    let declaration: DescriptorDeclaration

    /// Declares a format.
    ///
    /// - Parameters:
    ///   - type: The type of the value on the air.
    ///   - exponent: The power of ten that the value is multiplied by; 0 unless the type is an integer.
    ///   - unit: The unit.
    ///   - description: Distinguishes several values of the same kind.
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

    /// The namespace of the descriptions: the Bluetooth SIG's, which is the only one.
    private static let bluetoothNamespace: UInt8 = 0x01
}
