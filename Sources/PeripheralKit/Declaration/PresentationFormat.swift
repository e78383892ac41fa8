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

// MARK: - Types

extension PresentationFormat {
    /// The format type of an encoded value (Assigned Numbers, 2.4.1).
    public struct FormatType: RawRepresentable, Hashable, Sendable {
        /// The number of the format type.
        public let rawValue: UInt8

        /// Creates a format type from its number.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// A Boolean value: true or false.
        public static let boolean = FormatType(rawValue: 0x01)
        /// An unsigned integer of 2 bits.
        public static let uint2 = FormatType(rawValue: 0x02)
        /// An unsigned integer of 4 bits.
        public static let uint4 = FormatType(rawValue: 0x03)
        /// An unsigned integer of 8 bits.
        public static let uint8 = FormatType(rawValue: 0x04)
        /// An unsigned integer of 12 bits.
        public static let uint12 = FormatType(rawValue: 0x05)
        /// An unsigned integer of 16 bits.
        public static let uint16 = FormatType(rawValue: 0x06)
        /// An unsigned integer of 24 bits.
        public static let uint24 = FormatType(rawValue: 0x07)
        /// An unsigned integer of 32 bits.
        public static let uint32 = FormatType(rawValue: 0x08)
        /// An unsigned integer of 48 bits.
        public static let uint48 = FormatType(rawValue: 0x09)
        /// An unsigned integer of 64 bits.
        public static let uint64 = FormatType(rawValue: 0x0A)
        /// An unsigned integer of 128 bits.
        public static let uint128 = FormatType(rawValue: 0x0B)
        /// A signed integer of 8 bits.
        public static let sint8 = FormatType(rawValue: 0x0C)
        /// A signed integer of 12 bits.
        public static let sint12 = FormatType(rawValue: 0x0D)
        /// A signed integer of 16 bits.
        public static let sint16 = FormatType(rawValue: 0x0E)
        /// A signed integer of 24 bits.
        public static let sint24 = FormatType(rawValue: 0x0F)
        /// A signed integer of 32 bits.
        public static let sint32 = FormatType(rawValue: 0x10)
        /// A signed integer of 48 bits.
        public static let sint48 = FormatType(rawValue: 0x11)
        /// A signed integer of 64 bits.
        public static let sint64 = FormatType(rawValue: 0x12)
        /// A signed integer of 128 bits.
        public static let sint128 = FormatType(rawValue: 0x13)
        /// An IEEE 754 number of 32 bits.
        public static let float32 = FormatType(rawValue: 0x14)
        /// An IEEE 754 number of 64 bits.
        public static let float64 = FormatType(rawValue: 0x15)
        /// An IEEE 11073 number of 16 bits, such as `MedicalShortFloat`.
        public static let medfloat16 = FormatType(rawValue: 0x16)
        /// An IEEE 11073 number of 32 bits, such as `MedicalFloat`.
        public static let medfloat32 = FormatType(rawValue: 0x17)
        /// Two unsigned integers of 16 bits, such as IEEE 11073-20601 nomenclature codes.
        public static let duint16 = FormatType(rawValue: 0x18)
        /// Text in UTF-8.
        public static let utf8 = FormatType(rawValue: 0x19)
        /// Text in UTF-16.
        public static let utf16 = FormatType(rawValue: 0x1A)
        /// An opaque structure.
        ///
        /// The presentation format does not describe the fields of the structure.
        public static let structure = FormatType(rawValue: 0x1B)
        /// An ASN.1 structure of the IEEE 11073 standard.
        public static let medicalASN1 = FormatType(rawValue: 0x1C)

        /// Whether the exponent has a meaning, which is true only for integers.
        var isInteger: Bool {
            (Self.uint2.rawValue...Self.sint128.rawValue).contains(rawValue)
        }

        /// Whether Assigned Numbers defines this type.
        var isAssigned: Bool {
            (Self.boolean.rawValue...Self.medicalASN1.rawValue).contains(rawValue)
        }
    }
}
