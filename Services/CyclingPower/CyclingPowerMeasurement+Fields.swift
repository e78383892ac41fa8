internal import PeripheralKit

extension CyclingPowerMeasurement {
    /// The distribution of power between the pedals.
    public struct PedalPowerBalance: Equatable, Sendable {
        /// The share of one pedal in percent, 0 to 100 in steps of 0.5.
        public var percent: Double
        /// The encoded value of 100 %.
        static let all: UInt8 = 200

        /// Whether the share belongs to the left pedal; `false` when the pedal is unknown.
        public var isOfLeftPedal: Bool

        /// Creates a balance from the share of a pedal in percent.
        public init(percent: Double, isOfLeftPedal: Bool = false) {
            self.percent = percent
            self.isOfLeftPedal = isOfLeftPedal
        }
    }

    /// The sum of the measured torques, with one torque for each turn.
    public struct AccumulatedTorque: Equatable, Sendable {
        /// The sum in newton meters.
        ///
        /// The sum is rounded to the nearest step of 1/32, and starts again from 0 at 2048. A negative value
        /// and NaN are sent as 0.
        public var newtonMeters: Double
        /// Whether the torques are measured at the crank; `false` for the wheel.
        public var isOfCrank: Bool

        /// Creates a sum of torques in newton meters.
        public init(newtonMeters: Double, isOfCrank: Bool) {
            self.newtonMeters = newtonMeters
            self.isOfCrank = isOfCrank
        }

        var steps: UInt16 {
            UInt16(truncatingIfNeeded: max(PeripheralCyclingPower.steps(newtonMeters, perUnit: 32), 0))
        }
    }

    /// The greatest and the least value measured in a turn.
    public struct Extremes: Equatable, Sendable {
        /// The greatest value; for angles, the angle of the greatest magnitude.
        public var maximum: Double
        /// The least value; for angles, the angle of the least magnitude.
        public var minimum: Double

        /// Creates a pair of extremes.
        public init(maximum: Double, minimum: Double) {
            self.maximum = maximum
            self.minimum = minimum
        }

        init(decoding reader: inout ByteReader, stepsPerUnit: Double) throws(GATTDecodingError) {
            maximum = Double(try reader.read(Int16.self)) / stepsPerUnit
            minimum = Double(try reader.read(Int16.self)) / stepsPerUnit
        }

        func encode(into writer: inout ByteWriter, stepsPerUnit: Double) {
            writer.write(Int16(clamping: steps(maximum, perUnit: stepsPerUnit)))
            writer.write(Int16(clamping: steps(minimum, perUnit: stepsPerUnit)))
        }
    }

    /// The values that a measurement can contain in addition to the power.
    ///
    /// A central can turn off each of these values (section 3.4.2.13).
    ///
    /// The set does not include bit 2, the revolutions of the wheel. A sensor that reports the revolutions of
    /// the wheel must let centrals set their count. The handler of ``CyclingPowerService`` determines whether
    /// measurements contain these revolutions.
    public struct Content: OptionSet, Sendable {
        /// The encoded bits; bits 9 through 15 are reserved.
        public let rawValue: UInt16

        /// Creates a set of bits.
        ///
        /// Bits that the specification does not define are allowed.
        public init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        /// The distribution of power between the pedals.
        public static let pedalPowerBalance = Content(rawValue: 1 << 0)
        /// The sum of the torques.
        public static let accumulatedTorque = Content(rawValue: 1 << 1)
        /// The revolutions of the wheel, which measurements contain if centrals can set their count.
        @available(
            *,
            unavailable,
            message: "pass onSetWheelRevolutions to the service to include the wheel's revolutions"
        )
        public static var wheelRevolutions: Content { Content(rawValue: 1 << 2) }
        /// The revolutions of the crank.
        public static let crankRevolutions = Content(rawValue: 1 << 3)
        /// The greatest and the least force or torque.
        public static let extremeMagnitudes = Content(rawValue: 1 << 4)
        /// The angles of the greatest and the least magnitude.
        public static let extremeAngles = Content(rawValue: 1 << 5)
        /// The angle at which the power becomes positive.
        public static let topDeadSpotAngle = Content(rawValue: 1 << 6)
        /// The angle at which the power becomes negative.
        public static let bottomDeadSpotAngle = Content(rawValue: 1 << 7)
        /// The energy.
        public static let accumulatedEnergy = Content(rawValue: 1 << 8)

        static let all: UInt16 = 0x01FF
        /// The revolutions of the wheel.
        static let wheel: UInt16 = 1 << 2
    }

    /// The measurement limited to the given bits of ``Content``.
    func limited(to bits: UInt16) -> CyclingPowerMeasurement {
        var limited = self
        if bits & 1 << 0 == 0 { limited.balance = nil }
        if bits & 1 << 1 == 0 { limited.accumulatedTorque = nil }
        if bits & 1 << 2 == 0 { limited.wheel = nil }
        if bits & 1 << 3 == 0 { limited.crank = nil }
        if bits & 1 << 4 == 0 {
            limited.forces = nil
            limited.torques = nil
        }
        if bits & 1 << 5 == 0 { limited.angles = nil }
        if bits & 1 << 6 == 0 { limited.topDeadSpotAngle = nil }
        if bits & 1 << 7 == 0 { limited.bottomDeadSpotAngle = nil }
        if bits & 1 << 8 == 0 { limited.kilojoules = nil }
        return limited
    }

    /// As many fields as fit into a length, starting with a bit of ``Content``.
    ///
    /// The bit is moved to the first field that did not fit.
    func part(from bit: inout UInt16, upTo length: Int) -> CyclingPowerMeasurement {
        var content: UInt16 = 0
        while bit <= Content.all {
            guard limited(to: content | bit).gattBytes.count <= length else { break }
            content |= bit
            bit <<= 1
        }
        return limited(to: content)
    }
}

/// The nearest number of steps, given the steps per unit; 0 for NaN.
func steps(_ value: Double, perUnit stepsPerUnit: Double) -> Int {
    let steps = (value * stepsPerUnit).rounded()
    guard !steps.isNaN else { return 0 }
    return Int(min(max(steps, -0x1p52), 0x1p52))
}
