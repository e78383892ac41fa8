/// A decimal number of IEEE 11073-20601, as health services send it: a mantissa times a power of ten.
///
/// ``MedicalShortFloat`` (SFLOAT) has 16 bits, ``MedicalFloat`` (FLOAT) has 32. Besides numbers there are four
/// special values. See GATT Specification Supplement, 2.4, and IEEE 11073-20601, Annex F.
public protocol MedicalNumber: GATTValue, Hashable {
    /// The integer that holds mantissa and exponent.
    associatedtype Bits: FixedWidthInteger & UnsignedInteger & Sendable

    /// The bits on the air: the exponent in the uppermost, then the mantissa.
    var bits: Bits { get }

    /// Makes a number from its bits; all are allowed.
    init(bits: Bits)

    /// How many bits the mantissa has.
    static var mantissaBitCount: Int { get }
}

/// The 16-bit SFLOAT: a mantissa of 12 bits (±2045), an exponent of 4 bits (-8 to 7).
public struct MedicalShortFloat: MedicalNumber {
    /// The bits on the air.
    public let bits: UInt16
    /// How many bits the mantissa has.
    public static let mantissaBitCount = 12

    /// Makes a number from its bits.
    public init(bits: UInt16) {
        self.bits = bits
    }
}

/// The 32-bit FLOAT: a mantissa of 24 bits (±8388605), an exponent of 8 bits (-128 to 127).
public struct MedicalFloat: MedicalNumber {
    /// The bits on the air.
    public let bits: UInt32
    /// How many bits the mantissa has.
    public static let mantissaBitCount = 24

    /// Makes a number from its bits.
    public init(bits: UInt32) {
        self.bits = bits
    }
}

extension MedicalNumber {
    // The special values are the five mantissas around the most negative one, all with the exponent 0.
    private static var extreme: Int { 1 << (mantissaBitCount - 1) }

    /// Not a number: an invalid result or missing data.
    public static var nan: Self { Self(mantissa: extreme - 1, exponent: 0) }
    /// Not at this resolution: the value cannot be shown with this precision.
    public static var notAtThisResolution: Self { Self(mantissa: -extreme, exponent: 0) }
    /// Larger than any number.
    public static var positiveInfinity: Self { Self(mantissa: extreme - 2, exponent: 0) }
    /// Smaller than any number.
    public static var negativeInfinity: Self { Self(mantissa: -extreme + 2, exponent: 0) }
    private static var exponentRange: ClosedRange<Int> {
        let extreme = 1 << (Bits.bitWidth - mantissaBitCount - 1)
        return -extreme...extreme - 1
    }

    private static var largestMantissa: Int { extreme - 3 }

    /// Makes a number that keeps the digits of a measurement: 72 with the exponent -1 is 7.2.
    ///
    /// The result is `nil` when a part is out of its range.
    ///
    /// - Parameters:
    ///   - mantissa: At most ±2045 for a short float, ±8388605 for a float.
    ///   - exponent: The power of ten: -8 to 7 for a short float, -128 to 127 for a float.
    public init?(mantissa: Int, powerOfTen exponent: Int) {
        guard (-Self.largestMantissa...Self.largestMantissa).contains(mantissa),
            Self.exponentRange.contains(exponent)
        else { return nil }
        self.init(mantissa: mantissa, exponent: exponent)
    }

    private init(mantissa: Int, exponent: Int) {
        let mask = (Bits(1) << Self.mantissaBitCount) - 1
        self.init(
            bits: (Bits(truncatingIfNeeded: exponent) << Self.mantissaBitCount)
                | (Bits(truncatingIfNeeded: mantissa) & mask)
        )
    }

    /// Makes the number that is nearest to `value`.
    ///
    /// What is too large becomes an infinity, what is too small becomes zero. Trailing zeros are not kept: use
    /// ``init(mantissa:powerOfTen:)`` where the number of digits tells the precision.
    public init(_ value: Double) {
        guard !value.isNaN else {
            self = .nan
            return
        }
        let infinity: Self = value < 0 ? .negativeInfinity : .positiveInfinity
        guard value.isFinite else {
            self = infinity
            return
        }
        // The smallest exponent whose mantissa fits gives the most digits; then zeros are taken off.
        var exponent = Self.exponentRange.lowerBound
        var scaled = value.scaled(byPowerOfTen: -exponent)
        while scaled.rounded().magnitude > Double(Self.largestMantissa) {
            exponent += 1
            guard Self.exponentRange.contains(exponent) else {
                self = infinity
                return
            }
            scaled = value.scaled(byPowerOfTen: -exponent)
        }
        var mantissa = Int(scaled.rounded())
        while mantissa != 0, mantissa % 10 == 0, exponent < 0 {
            mantissa /= 10
            exponent += 1
        }
        self.init(mantissa: mantissa, exponent: mantissa == 0 ? 0 : exponent)
    }

    /// The mantissa, also of a special value.
    public var mantissa: Int {
        let unused = Int.bitWidth - Self.mantissaBitCount
        return (Int(truncatingIfNeeded: bits) << unused) >> unused
    }

    /// The power of ten.
    public var exponent: Int {
        let unused = Int.bitWidth - Bits.bitWidth
        return (Int(truncatingIfNeeded: bits) << unused) >> (unused + Self.mantissaBitCount)
    }

    /// Whether this is a number and not a special value.
    public var isFinite: Bool {
        (-Self.largestMantissa...Self.largestMantissa).contains(mantissa)
    }

    /// The nearest value of Swift's type; special values other than the infinities become NaN.
    public var doubleValue: Double {
        guard !isFinite else { return Double(mantissa).scaled(byPowerOfTen: exponent) }
        if self == .positiveInfinity { return .infinity }
        if self == .negativeInfinity { return -.infinity }
        return .nan
    }

    /// Decodes the bits; all are allowed.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        self.init(bits: try reader.read())
    }

    /// Appends the bits.
    public func encode(into writer: inout ByteWriter) {
        writer.write(bits)
    }
}

extension Double {
    /// This value times a power of ten.
    ///
    /// Powers up to 10²² are exact, so that a division by one is rounded once.
    fileprivate func scaled(byPowerOfTen power: Int) -> Double {
        var result = self
        var left = power.magnitude
        while left > 0 {
            let step = Swift.min(left, 22)
            let factor = (0..<step).reduce(1.0) { product, _ in product * 10 }
            result = power < 0 ? result / factor : result * factor
            left -= step
        }
        return result
    }
}
