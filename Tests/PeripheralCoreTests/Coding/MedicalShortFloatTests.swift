import PeripheralCore
import Testing

@Suite(.timeLimit(.minutes(1)))
struct MedicalShortFloatTests {
    /// 114 and 0.00118 are the examples of the white paper on transcoding personal health devices.
    @Test(
        arguments: [
            (0x0072, 114, 0, 114), (0xB076, 118, -5, 0.00118), (0xF16C, 364, -1, 36.4), (0x0000, 0, 0, 0),
            (0x0FFF, -1, 0, -1), (0xFFFF, -1, -1, -0.1), (0x87FD, 2045, -8, 0.000_020_45),
            (0x77FD, 2045, 7, 20_450_000_000), (0x0803, -2045, 0, -2045), (0x7803, -2045, 7, -20_450_000_000),
        ] as [(UInt16, Int, Int, Double)]
    )
    func bitsAreMantissaAndExponent(bits: UInt16, mantissa: Int, exponent: Int, number: Double) {
        let value = MedicalShortFloat(rawValue: bits)
        #expect(value.mantissa == mantissa)
        #expect(value.exponent == exponent)
        #expect(value.isFinite)
        #expect(value.doubleValue == number)
        #expect(MedicalShortFloat(mantissa: mantissa, exponent: exponent) == value)
        #expect(MedicalShortFloat(number) == value)
        #expect(value.gattBytes == [UInt8(truncatingIfNeeded: bits), UInt8(bits >> 8)])
    }

    @Test(
        arguments: [
            (.nan, 0x07FF, "NaN"), (.notAtThisResolution, 0x0800, "NRes"),
            (.positiveInfinity, 0x07FE, "+INFINITY"),
            (.negativeInfinity, 0x0802, "-INFINITY"),
            (MedicalShortFloat(rawValue: 0x0801), 0x0801, "reserved"),
        ] as [(MedicalShortFloat, UInt16, String)]
    )
    func specialValuesHaveTheExponentZero(value: MedicalShortFloat, bits: UInt16, text: String) throws {
        #expect(value.rawValue == bits)
        #expect(!value.isFinite)
        #expect(value.description == text)
        #expect(try MedicalShortFloat(gattBytes: value.gattBytes) == value)
        #expect(MedicalShortFloat(rawValue: bits | 0x1000).isFinite)
    }

    @Test func infinitiesAndNaNAreSwifts() {
        #expect(MedicalShortFloat.positiveInfinity.doubleValue == .infinity)
        #expect(MedicalShortFloat.negativeInfinity.doubleValue == -.infinity)
        #expect(MedicalShortFloat.nan.doubleValue.isNaN)
        #expect(MedicalShortFloat.notAtThisResolution.doubleValue.isNaN)
        #expect(MedicalShortFloat(.infinity) == .positiveInfinity)
        #expect(MedicalShortFloat(-.infinity) == .negativeInfinity)
        #expect(MedicalShortFloat(.nan) == .nan)
        #expect(MedicalShortFloat(1e300) == .positiveInfinity)
        #expect(MedicalShortFloat(-20_460_000_000) == .negativeInfinity)
        #expect(MedicalShortFloat(5e-324).rawValue == 0)
    }

    /// As many digits as the mantissa holds, and no zeros behind the point.
    @Test(
        arguments: [
            (36.6, 366, -1), (37, 37, 0), (37.04, 37, 0), (0.5, 5, -1), (1.0 / 3, 333, -3),
            (2045.4, 2045, 0),
            (2045.6, 205, 1), (2046, 205, 1), (-1234.5, -1234, 0), (100, 100, 0), (1e10, 1000, 7),
            (-0.0, 0, 0),
            (0.000_000_004, 0, 0), (0.000_000_006, 1, -8), (0.1 + 0.2, 3, -1), (12_345, 1234, 1),
        ] as [(Double, Int, Int)]
    )
    func numbersAreRoundedOnce(number: Double, mantissa: Int, exponent: Int) {
        let value = MedicalShortFloat(number)
        #expect([value.mantissa, value.exponent] == [mantissa, exponent])
    }

    @Test func theExponentCanBeGiven() {
        #expect(MedicalShortFloat(37, exponent: -1)?.rawValue == 0xF172)
        #expect(MedicalShortFloat(36.66, exponent: -1)?.mantissa == 367)
        #expect(MedicalShortFloat(204.5, exponent: -1)?.mantissa == 2045)
        #expect(MedicalShortFloat(204.6, exponent: -1) == nil)
        #expect(MedicalShortFloat(1, exponent: 8) == nil)
        #expect(MedicalShortFloat(1, exponent: -9) == nil)
        #expect(MedicalShortFloat(1, exponent: .min) == nil)
        #expect(MedicalShortFloat(1, exponent: .max) == nil)
        #expect(MedicalShortFloat(.nan, exponent: 0) == nil)
        #expect(MedicalShortFloat(.infinity, exponent: 0) == nil)
    }

    @Test(arguments: [
        (2046, 0), (-2046, 0), (2045, 8), (2045, -9), (.min, 0), (.max, 0), (0, .min), (0, .max),
    ])
    func partsOutOfRangeAreNone(mantissa: Int, exponent: Int) {
        #expect(MedicalShortFloat(mantissa: mantissa, exponent: exponent) == nil)
    }

    @Test func everyPatternComesBack() throws {
        var wrong: [UInt16] = []
        for bits in UInt16.min...UInt16.max {
            let value = MedicalShortFloat(rawValue: bits)
            guard try MedicalShortFloat(gattBytes: value.gattBytes) == value else {
                wrong.append(bits)
                continue
            }
            let isWide = abs(value.mantissa) > 2045
            guard value.isFinite, !isWide else {
                continue
            }
            if MedicalShortFloat(mantissa: value.mantissa, exponent: value.exponent) != value
                || MedicalShortFloat(value.doubleValue).doubleValue != value.doubleValue
                || MedicalShortFloat(value.doubleValue, exponent: value.exponent) != value
            {
                wrong.append(bits)
            }
        }
        #expect(wrong == [])
    }

    @Test func literalsAreNumbers() {
        let temperature: MedicalShortFloat = 36.6
        let pressure: MedicalShortFloat = 114
        #expect(temperature.rawValue == 0xF16E)
        #expect(pressure.rawValue == 0x0072)
        #expect(temperature.description == "36.6")
    }
}
