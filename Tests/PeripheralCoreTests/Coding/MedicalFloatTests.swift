import PeripheralCore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct MedicalFloatTests {
    /// 36.4 is the example of the Health Thermometer specifications.
    @Test(
        arguments: [
            (0xFF00_016C, 364, -1, 36.4), (0xFE00_0D97, 3479, -2, 34.79), (0x0000_0002, 2, 0, 2),
            (0x0000_0000, 0, 0, 0),
            (0x00FF_FFFF, -1, 0, -1), (0xFFFF_FFFF, -1, -1, -0.1), (0x007F_FFFD, 8_388_605, 0, 8_388_605),
            (0x0080_0003, -8_388_605, 0, -8_388_605), (0x7F7F_FFFD, 8_388_605, 127, 8_388_605e127),
            (0x807F_FFFD, 8_388_605, -128, 8_388_605e-128), (0x8000_0001, 1, -128, 1e-128),
        ] as [(UInt32, Int, Int, Double)]
    )
    func bitsAreMantissaAndExponent(bits: UInt32, mantissa: Int, exponent: Int, number: Double) {
        let value = MedicalFloat(rawValue: bits)
        #expect(value.mantissa == mantissa)
        #expect(value.exponent == exponent)
        #expect(value.isFinite)
        #expect(value.doubleValue == number)
        #expect(MedicalFloat(mantissa: mantissa, exponent: exponent) == value)
        #expect(MedicalFloat(number) == value)
        #expect(value.gattBytes == (0..<4).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) })
    }

    /// The same number in the precisions that its writer may have meant.
    @Test(
        arguments: [
            (0x0000_0002, 2), (0xFF00_0014, 2), (0xFE00_00C8, 2), (0x0100_0002, 20), (0x0200_0002, 200),
        ] as [(UInt32, Double)]
    )
    func precisionIsKept(bits: UInt32, number: Double) {
        let value = MedicalFloat(rawValue: bits)
        #expect(value.doubleValue == number)
        #expect(MedicalFloat(number, exponent: value.exponent) == value)
    }

    @Test(
        arguments: [
            (.nan, 0x007F_FFFF, "NaN"), (.notAtThisResolution, 0x0080_0000, "NRes"),
            (.positiveInfinity, 0x007F_FFFE, "+INFINITY"), (.negativeInfinity, 0x0080_0002, "-INFINITY"),
            (MedicalFloat(rawValue: 0x0080_0001), 0x0080_0001, "reserved"),
        ] as [(MedicalFloat, UInt32, String)]
    )
    func specialValuesHaveTheExponentZero(value: MedicalFloat, bits: UInt32, text: String) throws {
        #expect(value.rawValue == bits)
        #expect(!value.isFinite)
        #expect(value.description == text)
        #expect(try MedicalFloat(gattBytes: value.gattBytes) == value)
        #expect(MedicalFloat(rawValue: bits | 0x0100_0000).isFinite)
    }

    @Test func infinitiesAndNaNAreSwifts() {
        #expect(MedicalFloat.positiveInfinity.doubleValue == .infinity)
        #expect(MedicalFloat.negativeInfinity.doubleValue == -.infinity)
        #expect(MedicalFloat.nan.doubleValue.isNaN)
        #expect(MedicalFloat.notAtThisResolution.doubleValue.isNaN)
        #expect(MedicalFloat(.infinity) == .positiveInfinity)
        #expect(MedicalFloat(-.infinity) == .negativeInfinity)
        #expect(MedicalFloat(.nan) == .nan)
        #expect(MedicalFloat(.greatestFiniteMagnitude) == .positiveInfinity)
        #expect(MedicalFloat(-1e200) == .negativeInfinity)
        #expect(MedicalFloat(.leastNonzeroMagnitude).rawValue == 0)
        #expect(MedicalFloat(-1e-200).rawValue == 0)
    }

    /// As many digits as the mantissa holds, and no zeros behind the point.
    @Test(
        arguments: [
            (36.6, 366, -1), (37, 37, 0), (1.0 / 3, 3_333_333, -7), (100, 100, 0), (0.1 + 0.2, 3, -1),
            (8_388_606, 838_861, 1), (123_456_789, 1_234_568, 2), (-273.15, -27_315, -2),
            (1e20, 1_000_000, 14),
        ] as [(Double, Int, Int)]
    )
    func numbersAreRoundedOnce(number: Double, mantissa: Int, exponent: Int) {
        let value = MedicalFloat(number)
        #expect([value.mantissa, value.exponent] == [mantissa, exponent])
    }

    @Test(arguments: [
        (8_388_606, 0), (-8_388_606, 0), (1, 128), (1, -129), (.min, 0), (.max, 0), (0, .min), (0, .max),
    ])
    func partsOutOfRangeAreNone(mantissa: Int, exponent: Int) {
        #expect(MedicalFloat(mantissa: mantissa, exponent: exponent) == nil)
        #expect(MedicalFloat(Double(mantissa), exponent: exponent) == nil || mantissa == 0 && exponent == 0)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func patternsComeBack(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var wrong: [UInt32] = []
        for _ in 0..<fuzzInputCount {
            let value = MedicalFloat(rawValue: UInt32(truncatingIfNeeded: generator.next()))
            guard value.isFinite, abs(value.mantissa) <= 8_388_605 else {
                continue
            }
            if MedicalFloat(mantissa: value.mantissa, exponent: value.exponent) != value
                || MedicalFloat(value.doubleValue).doubleValue != value.doubleValue
                || MedicalFloat(value.doubleValue, exponent: value.exponent) != value
            {
                wrong.append(value.rawValue)
            }
        }
        #expect(wrong.prefix(5) == [], "seed \(seed)")
    }

    @Test func literalsAreNumbers() {
        let temperature: MedicalFloat = 36.4
        let count: MedicalFloat = 12
        #expect(temperature.rawValue == 0xFF00_016C)
        #expect(count.rawValue == 12)
        #expect(temperature.description == "36.4")
    }
}
