/// A 32-bit decimal number, the format of measurements of medical devices.
///
/// The format is the FLOAT-Type of IEEE 11073-20601, Annex F. The GATT Specification Supplement, 2.3, calls
/// the format *medfloat32*. A number is a 24-bit mantissa times ten to the power of an 8-bit exponent. For
/// example, `36.6` is exactly 366 × 10^−1. The special values are NaN, NRes (*not at this resolution*), both
/// infinities and one reserved value.
///
/// Two values are equal when their bits are equal. Therefore, 1 × 10^1 and 10 × 10^0 are different, and NaN
/// equals itself.
public struct MedicalFloat: GATTValue, RawRepresentable, Hashable {
    /// The 32 bits, with the exponent above the mantissa.
    public let rawValue: UInt32

    /// Creates a value from any bit pattern.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Creates a value from a mantissa and an exponent.
    ///
    /// Returns `nil` if either is out of range.
    ///
    /// - Parameters:
    ///   - mantissa: −8 388 605 through 8 388 605. Mantissas beyond this range represent special values.
    ///   - exponent: −128 through 127.
    public init?(mantissa: Int, exponent: Int) {
        guard let bits = Self.format.bits(mantissa: mantissa, exponent: exponent) else {
            return nil
        }
        rawValue = bits
    }

    /// Creates the value closest to a number.
    ///
    /// If several values are equally close, the initializer chooses the exponent closest to 0: 36.6 becomes
    /// 366 × 10^−1. A number that is too large becomes an infinity. A number that is too small becomes 0.
    public init(_ value: Double) {
        let bits = Self.format.bits(closestTo: value)
        rawValue = bits
    }

    /// Creates the value closest to a number, with an exponent that states the precision.
    ///
    /// Returns `nil` if the exponent, or the mantissa for this exponent, is out of range. A thermometer with
    /// a resolution of a tenth of a degree reports 37.0 as 370 × 10^−1: `MedicalFloat(37, exponent: -1)`.
    public init?(_ value: Double, exponent: Int) {
        guard let mantissa = Self.format.mantissa(of: value, exponent: exponent) else {
            return nil
        }
        self.init(mantissa: mantissa, exponent: exponent)
    }

    /// Not a number: there is no valid result.
    public static let nan = MedicalFloat(rawValue: 0x007F_FFFF)
    /// Not at this resolution: this mantissa and exponent cannot represent the result.
    public static let notAtThisResolution = MedicalFloat(rawValue: 0x0080_0000)
    /// A result above the range that can be measured or represented.
    public static let positiveInfinity = MedicalFloat(rawValue: 0x007F_FFFE)
    /// A result below the range that can be measured or represented.
    public static let negativeInfinity = MedicalFloat(rawValue: 0x0080_0002)

    /// The signed digits of the number.
    ///
    /// The mantissa of a special value is meaningless.
    public var mantissa: Int {
        Self.format.mantissa(of: rawValue)
    }

    /// The power of ten that multiplies the mantissa.
    ///
    /// The exponent of a special value is meaningless.
    public var exponent: Int {
        Self.format.exponent(of: rawValue)
    }

    /// Whether the value is a number and not a special value.
    public var isFinite: Bool {
        Self.format.isFinite(rawValue)
    }

    /// The `Double` that is closest to the value.
    ///
    /// NRes and the reserved value become NaN.
    public var doubleValue: Double {
        Self.format.double(of: rawValue)
    }

    private static let format = DecimalFloatFormat.long
}

extension MedicalFloat {
    /// Reads four bytes, least significant first.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        rawValue = try reader.read()
    }

    /// Appends four bytes, least significant first.
    public func encode(into writer: inout ByteWriter) {
        writer.write(rawValue)
    }
}

extension MedicalFloat: ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral {
    /// Creates the value closest to a literal: see ``init(_:)``.
    public init(floatLiteral value: Double) {
        self.init(value)
    }

    /// Creates the value closest to a literal: see ``init(_:)``.
    public init(integerLiteral value: Int) {
        self.init(Double(value))
    }
}

extension MedicalFloat: CustomStringConvertible {
    /// The decimal number, or the standard's name of the special value.
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
