internal import PeripheralCore

/// The type, scale and unit with which a value is shown to people.
///
/// See Core Specification, Vol 3, Part G, 3.3.3.5.
///
/// ```swift
/// // 2156 stands for 21.56 °C.
/// PresentationFormat(.sint16, exponent: -2, unit: .degreeCelsius)
/// ```
///
/// If a value consists of several parts, declare a format for each part, and an ``AggregateFormat``. To refer
/// to a format in an ``AggregateFormat``, keep the format in a constant. All copies of a format are the same
/// format.
public struct PresentationFormat: Sendable {
    /// The type of the value on the air.
    public let type: FormatType

    /// The power of ten that an integer is multiplied by.
    public let exponent: Int8

    /// The unit of the value.
    public let unit: Unit

    /// The description that distinguishes several values of the same kind; `.unknown` for a single value.
    public let description: Description

    let declaration: DescriptorDeclaration

    /// Declares a format.
    ///
    /// - Parameters:
    ///   - type: The type of the value on the air.
    ///   - exponent: The power of ten that the value is multiplied by; 0 unless the type is an integer.
    ///   - unit: The unit of the value.
    ///   - description: The description that distinguishes several values of the same kind.
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

    /// The namespace of the descriptions; the Bluetooth SIG defines only this namespace.
    private static let bluetoothNamespace: UInt8 = 0x01
}
