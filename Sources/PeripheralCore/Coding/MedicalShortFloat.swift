/// A 16-bit decimal number for the measurements of medical devices.
///
/// IEEE 11073-20601, Annex F, defines the format under the name SFLOAT-Type. The GATT Specification
/// Supplement, 2.3, calls the format *medfloat16*. A number consists of a 12-bit mantissa and a 4-bit
/// exponent. The value of the number is mantissa × 10^exponent. For example, `36.6` is exactly 366 × 10^−1.
/// The format has five special values: NaN (*not a number*), NRes (*not at this resolution*), positive
/// infinity, negative infinity and a reserved value.
///
/// Two values are equal if all of their bits are equal. For example, 1 × 10^1 and 10 × 10^0 are not equal,
/// but NaN is equal to NaN.
public struct MedicalShortFloat: GATTValue, RawRepresentable, Hashable {
    /// The 16 bits of the value, with the exponent in the most significant bits.
    public let rawValue: UInt16

    /// Creates a value from a bit pattern.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Creates a value from a mantissa and an exponent.
    ///
    /// The initializer returns `nil` if the mantissa or the exponent is out of range.
    ///
    /// - Parameters:
    ///   - mantissa: The mantissa, −2045 through 2045. Other mantissas are reserved for the special values.
    ///   - exponent: The exponent, −8 through 7.
    public init?(mantissa: Int, exponent: Int) {
        guard let bits = Self.format.bits(mantissa: mantissa, exponent: exponent) else {
            return nil
        }
        rawValue = UInt16(truncatingIfNeeded: bits)
    }

    /// Creates the representable value that is closest to a number.
    ///
    /// If several values are equally close, the initializer chooses the value with the exponent closest to 0.
    /// For example, the initializer converts 36.6 to 366 × 10^−1. If the magnitude of the number is too large
    /// for the format, the result is an infinity. If the magnitude of the number is too small for the format,
    /// the result is 0.
    public init(_ value: Double) {
        let bits = Self.format.bits(closestTo: value)
        rawValue = UInt16(truncatingIfNeeded: bits)
    }

    /// Creates the value that has the given exponent and is closest to a number.
    ///
    /// The exponent determines the precision of the value. The initializer returns `nil` if the exponent or
    /// the resulting mantissa is out of range. For example, a thermometer with a resolution of 0.1 degrees
    /// reports 37.0 as 370 × 10^−1: `MedicalShortFloat(37, exponent: -1)`.
    public init?(_ value: Double, exponent: Int) {
        guard let mantissa = Self.format.mantissa(of: value, exponent: exponent) else {
            return nil
        }
        self.init(mantissa: mantissa, exponent: exponent)
    }

    /// The special value NaN (*not a number*), for a measurement without a valid result.
    public static let nan = MedicalShortFloat(rawValue: 0x07FF)
    /// The special value NRes (*not at this resolution*).
    ///
    /// The value stands for a result that the format cannot represent with the required resolution.
    public static let notAtThisResolution = MedicalShortFloat(rawValue: 0x0800)
    /// Positive infinity, for a result above the range of the sensor or of the format.
    public static let positiveInfinity = MedicalShortFloat(rawValue: 0x07FE)
    /// Negative infinity, for a result below the range of the sensor or of the format.
    public static let negativeInfinity = MedicalShortFloat(rawValue: 0x0802)

    /// The signed mantissa of the number.
    ///
    /// For a special value, the mantissa has no meaning.
    public var mantissa: Int {
        Self.format.mantissa(of: UInt32(rawValue))
    }

    /// The base-10 exponent of the number.
    ///
    /// For a special value, the exponent has no meaning.
    public var exponent: Int {
        Self.format.exponent(of: UInt32(rawValue))
    }

    /// Whether the value is a number, and not a special value.
    public var isFinite: Bool {
        Self.format.isFinite(UInt32(rawValue))
    }

    /// The `Double` that is closest to the value.
    ///
    /// For NaN, for NRes and for the reserved value, the property is `Double.nan`.
    public var doubleValue: Double {
        Self.format.double(of: UInt32(rawValue))
    }

    private static let format = DecimalFloatFormat.short
}

extension MedicalShortFloat {
    /// Reads a value from two bytes, with the least significant byte first.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        rawValue = try reader.read()
    }

    /// Appends the value as two bytes, with the least significant byte first.
    public func encode(into writer: inout ByteWriter) {
        writer.write(rawValue)
    }
}

extension MedicalShortFloat: ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral {
    /// Creates the value that is closest to a literal, in the same way as ``init(_:)``.
    public init(floatLiteral value: Double) {
        self.init(value)
    }

    /// Creates the value that is closest to a literal, in the same way as ``init(_:)``.
    public init(integerLiteral value: Int) {
        self.init(Double(value))
    }
}

extension MedicalShortFloat: CustomStringConvertible {
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
