/// A decimal number of 32 bits, as medical devices report their measurements.
///
/// The FLOAT-Type of IEEE 11073-20601, Annex F, *medfloat32* in the GATT Specification Supplement, 2.3: a
/// 24-bit mantissa times ten to the power of a 8-bit exponent, so that `36.6` is 366 × 10^−1 and nothing is
/// lost. Besides numbers there are NaN, NRes (*not at this resolution*), both infinities and one reserved
/// value.
///
/// Two values are equal when their bits are: 1 × 10^1 and 10 × 10^0 are not, and NaN equals itself.
public struct MedicalFloat: GATTValue, RawRepresentable, Hashable {
    /// The 32 bits, the exponent above the mantissa.
    public let rawValue: UInt32

    /// Creates a value of its bits; every pattern is one.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Creates the value of a mantissa and an exponent; `nil` when one of them is out of range.
    ///
    /// - Parameters:
    ///   - mantissa: −8 388 605 through 8 388 605; those beyond stand for special values.
    ///   - exponent: −128 through 127.
    public init?(mantissa: Int, exponent: Int) {
        guard let bits = Self.format.bits(mantissa: mantissa, exponent: exponent) else {
            return nil
        }
        rawValue = bits
    }

    /// Creates the value closest to a number.
    ///
    /// Of the exponents that are equally close, the one closest to 0 is chosen: 36.6 becomes 366 × 10^−1.
    /// What is too large becomes an infinity, what is too small 0.
    public init(_ value: Double) {
        let bits = Self.format.bits(closestTo: value)
        rawValue = bits
    }

    /// Creates the value closest to a number under a given exponent, which tells how precise it is.
    ///
    /// A thermometer that resolves a tenth of a degree says 37.0 as 370 × 10^−1: `MedicalFloat(37, exponent:
    /// -1)`. `nil` when the exponent is out of range, or the number under this exponent.
    public init?(_ value: Double, exponent: Int) {
        guard let mantissa = Self.format.mantissa(of: value, exponent: exponent) else {
            return nil
        }
        self.init(mantissa: mantissa, exponent: exponent)
    }

    /// Not a number: there is no valid result.
    public static let nan = MedicalFloat(rawValue: 0x007F_FFFF)
    /// Not at this resolution: the result cannot be told with this mantissa and exponent.
    public static let notAtThisResolution = MedicalFloat(rawValue: 0x0080_0000)
    /// Above what can be measured or told.
    public static let positiveInfinity = MedicalFloat(rawValue: 0x007F_FFFE)
    /// Below what can be measured or told.
    public static let negativeInfinity = MedicalFloat(rawValue: 0x0080_0002)

    /// The digits, sign included; without meaning for a special value.
    public var mantissa: Int {
        Self.format.mantissa(of: rawValue)
    }

    /// The power of ten by which the mantissa is multiplied; without meaning for a special value.
    public var exponent: Int {
        Self.format.exponent(of: rawValue)
    }

    /// Whether this is a number, not a special value.
    public var isFinite: Bool {
        Self.format.isFinite(rawValue)
    }

    /// The closest binary number; NaN also for NRes and the reserved value.
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
    /// Creates the value closest to a literal, as ``init(_:)`` does.
    public init(floatLiteral value: Double) {
        self.init(value)
    }

    /// Creates the value closest to a literal, as ``init(_:)`` does.
    public init(integerLiteral value: Int) {
        self.init(Double(value))
    }
}

extension MedicalFloat: CustomStringConvertible {
    /// The number in decimal, or the standard's name of the special value.
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
