/// The integer format of an encoded quantity: the size, the signedness and the step.
public struct FitnessMachineFormat: Sendable {
    /// The number of encoded bytes: 1, 2 or 3.
    let size: Int
    let isSigned: Bool
    /// The integer that represents 1 in the unit.
    let one: Double

    private init(_ size: Int, isSigned: Bool = false, one: Double = 1) {
        self.size = size
        self.isSigned = isSigned
        self.one = one
    }

    package static let uint8 = FitnessMachineFormat(1)
    package static let uint16 = FitnessMachineFormat(2)
    package static let uint24 = FitnessMachineFormat(3)
    package static let sint16 = FitnessMachineFormat(2, isSigned: true)
    /// In steps of 0.5.
    package static let halves8 = FitnessMachineFormat(1, one: 2)
    package static let halves16 = FitnessMachineFormat(2, one: 2)
    /// In steps of 0.1.
    package static let tenths8 = FitnessMachineFormat(1, one: 10)
    package static let tenths16 = FitnessMachineFormat(2, one: 10)
    package static let signedTenths16 = FitnessMachineFormat(2, isSigned: true, one: 10)
    /// In steps of 0.01.
    package static let hundredths8 = FitnessMachineFormat(1, one: 100)
    package static let hundredths16 = FitnessMachineFormat(2, one: 100)
    package static let signedHundredths16 = FitnessMachineFormat(2, isSigned: true, one: 100)
    /// In steps of 0.001.
    package static let signedThousandths16 = FitnessMachineFormat(2, isSigned: true, one: 1_000)
    /// In steps of 0.0001.
    package static let tenThousandths8 = FitnessMachineFormat(1, one: 10_000)

    /// The largest integer, which represents an unknown number in a field that may be unknown.
    var maximum: Int {
        1 << (isSigned ? size * 8 - 1 : size * 8) - 1
    }

    /// The integer that is closest to a number; 0 for NaN.
    func integer(_ number: Double, below limit: Int = .max) -> Int {
        guard !number.isNaN else { return 0 }
        let least = isSigned ? -(maximum + 1) : 0
        let most = min(maximum, limit - 1)
        // Compares floating-point numbers, because converting a large number to an integer would trap.
        return Int(min(max((number * one).rounded(), Double(least)), Double(most)))
    }

    /// The bytes of an integer, the least significant first.
    func bytes(_ integer: Int) -> [UInt8] {
        (0..<size).map { UInt8(truncatingIfNeeded: integer >> ($0 * 8)) }
    }

    /// The bytes of the integer that is closest to a number.
    func bytes(of number: Double) -> [UInt8] {
        bytes(integer(number))
    }

    /// The integer that bytes represent.
    func integer(_ bytes: ArraySlice<UInt8>) -> Int {
        var integer = 0
        for byte in bytes.reversed() { integer = integer << 8 | Int(byte) }
        return isSigned && integer > maximum ? integer - (maximum + 1) * 2 : integer
    }

    /// The number that bytes represent.
    func number(_ bytes: ArraySlice<UInt8>) -> Double {
        Double(integer(bytes)) / one
    }
}
