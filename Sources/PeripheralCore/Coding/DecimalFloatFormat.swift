/// The packing of a decimal number, mantissa × 10^exponent, into an integer (IEEE 11073-20601).
///
/// The exponent is in the bits above the mantissa. Both are in two's complement. With the exponent 0, the
/// five mantissas around the ends of the range are special values, not numbers.
struct DecimalFloatFormat {
    let mantissaBitCount: Int
    let exponents: ClosedRange<Int>

    /// A 12-bit mantissa and a 4-bit exponent.
    static let short = DecimalFloatFormat(mantissaBitCount: 12, exponents: -8...7)
    /// A 24-bit mantissa and an 8-bit exponent.
    static let long = DecimalFloatFormat(mantissaBitCount: 24, exponents: -128...127)

    /// Half the number of mantissa bit patterns: 2048 or 8 388 608.
    private var halfRange: Int { 1 << (mantissaBitCount - 1) }

    /// The largest mantissa that is a number with every exponent.
    ///
    /// According to the standard, the mantissas of special values are numbers if the exponent is not 0. Many
    /// decoders ignore the exponent for these mantissas, so encoding avoids these mantissas. Decoding accepts
    /// these mantissas.
    private var largestMantissa: Int { halfRange - 3 }

    var nan: UInt32 { UInt32(halfRange - 1) }
    var notAtThisResolution: UInt32 { UInt32(halfRange) }
    var positiveInfinity: UInt32 { UInt32(halfRange - 2) }
    var negativeInfinity: UInt32 { UInt32(halfRange + 2) }
    var reserved: UInt32 { UInt32(halfRange + 1) }

    // MARK: Parts

    func mantissa(of bits: UInt32) -> Int {
        let mantissa = Int(bits) & (2 * halfRange - 1)
        return mantissa < halfRange ? mantissa : mantissa - 2 * halfRange
    }

    func exponent(of bits: UInt32) -> Int {
        let exponent = Int(bits) >> mantissaBitCount
        return exponent <= exponents.upperBound ? exponent : exponent - exponents.count
    }

    /// Whether the bits are a number, not a special value.
    func isFinite(_ bits: UInt32) -> Bool {
        !(nan...reserved).contains(bits) && bits != positiveInfinity && bits != negativeInfinity
    }

    func bits(mantissa: Int, exponent: Int) -> UInt32? {
        guard mantissa.magnitude <= largestMantissa, exponents.contains(exponent) else {
            return nil
        }
        let exponentBits = exponent & (exponents.count - 1)
        return UInt32(exponentBits << mantissaBitCount | mantissa & (2 * halfRange - 1))
    }

    // MARK: Binary numbers

    func double(of bits: UInt32) -> Double {
        switch bits {
        case nan, notAtThisResolution, reserved: .nan
        case positiveInfinity: .infinity
        case negativeInfinity: -.infinity
        default: Decimal.product(of: mantissa(of: bits), exponent: exponent(of: bits))
        }
    }

    /// Returns the bits of the closest number.
    ///
    /// If several numbers are equally close, the method chooses the exponent closest to 0.
    func bits(closestTo value: Double) -> UInt32 {
        guard value.isFinite else {
            return value.isNaN ? nan : infinity(ofSign: value)
        }
        guard value != 0 else {
            return 0
        }
        var exponent = startingExponent(for: value)
        while exponent <= exponents.upperBound {
            guard let mantissa = mantissa(of: value, exponent: exponent) else {
                exponent += 1
                continue
            }
            return shortened(mantissa: mantissa, exponent: exponent)
        }
        return infinity(ofSign: value)
    }

    /// Returns the mantissa closest to a value, or `nil` if the mantissa or the exponent is out of range.
    func mantissa(of value: Double, exponent: Int) -> Int? {
        guard exponents.contains(exponent) else {
            return nil
        }
        let scaled = Decimal.scaled(value, byPowerOfTen: -exponent).rounded(.toNearestOrEven)
        guard abs(scaled) <= Double(largestMantissa) else {
            return nil
        }
        return Int(scaled)
    }

    private func infinity(ofSign value: Double) -> UInt32 {
        value < 0 ? negativeInfinity : positiveInfinity
    }

    /// Returns a lower bound for the smallest exponent with which the mantissa fits.
    private func startingExponent(for value: Double) -> Int {
        // A number with binary exponent b is at least 2^b. Every mantissa has fewer than eight digits.
        let powerOfTen = (Double(value.exponent) * 0.301_029_995_663_981_2).rounded(.down)
        return max(exponents.lowerBound, Int(powerOfTen) - 8)
    }

    /// Removes trailing zeros after the decimal point.
    private func shortened(mantissa: Int, exponent: Int) -> UInt32 {
        var (mantissa, exponent) = (mantissa, exponent)
        while exponent < 0, mantissa.isMultiple(of: 10) {
            mantissa /= 10
            exponent += 1
        }
        return bits(mantissa: mantissa, exponent: exponent) ?? 0
    }
}

/// Multiplication by powers of ten that rounds as little as possible.
private enum Decimal {
    /// The powers of ten that a `Double` represents exactly.
    private static let exactPowers: [Double] = (1...22).reduce(into: [1]) { powers, _ in
        powers.append(powers[powers.count - 1] * 10)
    }

    static func scaled(_ value: Double, byPowerOfTen exponent: Int) -> Double {
        guard abs(exponent) < exactPowers.count else {
            return value * product(of: 1, exponent: exponent)
        }
        return exponent < 0 ? value / exactPowers[-exponent] : value * exactPowers[exponent]
    }

    static func product(of mantissa: Int, exponent: Int) -> Double {
        guard abs(exponent) < exactPowers.count else {
            // Parsing text rounds once. Multiplying by an inexact power would round twice.
            return Double("\(mantissa)e\(exponent)") ?? .nan
        }
        return scaled(Double(mantissa), byPowerOfTen: exponent)
    }
}
