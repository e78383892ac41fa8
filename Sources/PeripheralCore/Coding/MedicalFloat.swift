/// A 32-bit decimal number for the measurements of medical devices.
///
/// IEEE 11073-20601, Annex F, defines the format under the name FLOAT-Type. The GATT Specification
/// Supplement, 2.3, calls the format *medfloat32*. A number consists of a 24-bit mantissa and an 8-bit
/// exponent. The value of the number is mantissa × 10^exponent. For example, `36.6` is exactly 366 × 10^−1.
/// The format has five special values: NaN (*not a number*), NRes (*not at this resolution*), positive
/// infinity, negative infinity and a reserved value.
///
/// Two values are equal if all of their bits are equal. For example, 1 × 10^1 and 10 × 10^0 are not equal,
/// but NaN is equal to NaN.
public struct MedicalFloat: GATTValue, RawRepresentable, Hashable {
    /// The 32 bits of the value, with the exponent in the most significant bits.
    public let rawValue: UInt32

    /// Creates a value from a bit pattern.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Creates a value from a mantissa and an exponent.
    ///
    /// The initializer returns `nil` if the mantissa or the exponent is out of range.
    ///
    /// - Parameters:
    ///   - mantissa: The mantissa, −8 388 605 through 8 388 605. Other mantissas are reserved for the special
    ///     values.
    ///   - exponent: The exponent, −128 through 127.
    public init?(mantissa: Int, exponent: Int) {
        guard let bits = Self.format.bits(mantissa: mantissa, exponent: exponent) else {
            return nil
        }
        rawValue = bits
    }

    /// Creates the representable value that is closest to a number.
    ///
    /// If several values are equally close, the initializer chooses the value with the exponent closest to 0.
    /// For example, the initializer converts 36.6 to 366 × 10^−1. If the magnitude of the number is too large
    /// for the format, the result is an infinity. If the magnitude of the number is too small for the format,
    /// the result is 0.
    public init(_ value: Double) {
        let bits = Self.format.bits(closestTo: value)
        rawValue = bits
    }

    /// Creates the value that has the given exponent and is closest to a number.
    ///
    /// The exponent determines the precision of the value. The initializer returns `nil` if the exponent or
    /// the resulting mantissa is out of range. For example, a thermometer with a resolution of 0.1 degrees
    /// reports 37.0 as 370 × 10^−1: `MedicalFloat(37, exponent: -1)`.
    public init?(_ value: Double, exponent: Int) {
        guard let mantissa = Self.format.mantissa(of: value, exponent: exponent) else {
            return nil
        }
        self.init(mantissa: mantissa, exponent: exponent)
    }

    /// The special value NaN (*not a number*), for a measurement without a valid result.
    public static let nan = MedicalFloat(rawValue: 0x007F_FFFF)
    /// The special value NRes (*not at this resolution*).
    ///
    /// The value stands for a result that the format cannot represent with the required resolution.
    public static let notAtThisResolution = MedicalFloat(rawValue: 0x0080_0000)
    /// Positive infinity, for a result above the range of the sensor or of the format.
    public static let positiveInfinity = MedicalFloat(rawValue: 0x007F_FFFE)
    /// Negative infinity, for a result below the range of the sensor or of the format.
    public static let negativeInfinity = MedicalFloat(rawValue: 0x0080_0002)

    /// The signed mantissa of the number.
    ///
    /// For a special value, the mantissa has no meaning.
    public var mantissa: Int {
        Self.format.mantissa(of: rawValue)
    }

    /// The base-10 exponent of the number.
    ///
    /// For a special value, the exponent has no meaning.
    public var exponent: Int {
        Self.format.exponent(of: rawValue)
    }

    /// Whether the value is a number, and not a special value.
    public var isFinite: Bool {
        Self.format.isFinite(rawValue)
    }

    /// The `Double` that is closest to the value.
    ///
    /// For NaN, for NRes and for the reserved value, the property is `Double.nan`.
    public var doubleValue: Double {
        Self.format.double(of: rawValue)
    }

    private static let format = DecimalFloatFormat.long
}

extension MedicalFloat {
    /// Reads a value from four bytes, with the least significant byte first.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        rawValue = try reader.read()
    }

    /// Appends the value as four bytes, with the least significant byte first.
    public func encode(into writer: inout ByteWriter) {
        writer.write(rawValue)
    }
}

extension MedicalFloat: ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral {
    /// Creates the value that is closest to a literal, in the same way as ``init(_:)``.
    public init(floatLiteral value: Double) {
        self.init(value)
    }

    /// Creates the value that is closest to a literal, in the same way as ``init(_:)``.
    public init(integerLiteral value: Int) {
        self.init(Double(value))
    }
}

extension MedicalFloat: CustomStringConvertible {
    /// The decimal number as text, or the IEEE 11073-20601 name of the special value.
    public var description: String {
        switch self {
        case .nan: "NaN"
        case .notAtThisResolution: "NRes"
        case .positiveInfinity: "+INFINITY"
        case .negativeInfinity: "-INFINITY"
        default: isFinite ? "\(doubleValue)" : "reserved"
        }
    }
}
