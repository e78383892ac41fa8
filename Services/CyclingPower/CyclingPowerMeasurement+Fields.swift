internal import PeripheralKit

extension CyclingPowerMeasurement {
    /// How the power is shared between the pedals.
    public struct PedalPowerBalance: Equatable, Sendable {
        /// The share of one pedal in percent, 0 to 100 in steps of 0.5.
        public var percent: Double
        /// 100 % on the air.
        static let all: UInt8 = 200

        /// Whether it is the share of the left pedal; `false` when it is not known whose it is.
        public var isOfLeftPedal: Bool

        /// Makes a balance of the share of a pedal in percent.
        public init(percent: Double, isOfLeftPedal: Bool = false) {
            self.percent = percent
            self.isOfLeftPedal = isOfLeftPedal
        }
    }

    /// The sum of the torques that were measured, one in each turn.
    public struct AccumulatedTorque: Equatable, Sendable {
        /// The sum in newton meters; on the air it is the nearest step of 1/32, and begins anew at 2048.
        ///
        /// Less than 0, and what is not a number, is sent as 0.
        public var newtonMeters: Double
        /// Whether the torques are those at the crank; `false` for those at the wheel.
        public var isOfCrank: Bool

        /// Makes a sum of torques in newton meters.
        public init(newtonMeters: Double, isOfCrank: Bool) {
            self.newtonMeters = newtonMeters
            self.isOfCrank = isOfCrank
        }

        var steps: UInt16 {
            UInt16(truncatingIfNeeded: max(PeripheralCyclingPower.steps(newtonMeters, perUnit: 32), 0))
        }
    }

    /// The greatest and the least of what was measured in a turn.
    public struct Extremes: Equatable, Sendable {
        /// The greatest; of angles, that of the greatest magnitude.
        public var maximum: Double
        /// The least; of angles, that of the least magnitude.
        public var minimum: Double

        /// Makes a pair of extremes.
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

    /// What measurements tell beside the power, as a central can turn it off (section 3.4.2.13).
    ///
    /// The wheel's revolutions, bit 2, are not among it: a sensor that tells them has to let centrals set them, so that they
    /// follow from the handler of ``CyclingPowerService``.
    public struct Content: OptionSet, Sendable {
        /// The bits as they are on the air; bits 9 through 15 are reserved.
        public let rawValue: UInt16

        /// Makes a set of bits, known to the specification or not.
        public init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        /// How the power is shared between the pedals.
        public static let pedalPowerBalance = Content(rawValue: 1 << 0)
        /// The sum of the torques.
        public static let accumulatedTorque = Content(rawValue: 1 << 1)
        /// How often the wheel has turned; measurements tell it when it can be set.
        @available(
            *,
            unavailable,
            message: "a service that is given onSetWheelRevolutions tells the wheel's revolutions"
        )
        public static var wheelRevolutions: Content { Content(rawValue: 1 << 2) }
        /// How often the crank has turned.
        public static let crankRevolutions = Content(rawValue: 1 << 3)
        /// The greatest and least force or torque.
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
        /// The wheel's revolutions.
        static let wheel: UInt16 = 1 << 2
    }

    /// The measurement without what is not among the bits of a ``Content``.
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

    /// As many of the fields as fit into so many bytes, from a bit of ``Content`` on, which is moved to the next of them.
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

/// The nearest number of steps, of which there are so many in a unit; 0 for what is not a number.
func steps(_ value: Double, perUnit stepsPerUnit: Double) -> Int {
    let steps = (value * stepsPerUnit).rounded()
    guard !steps.isNaN else { return 0 }
    return Int(min(max(steps, -0x1p52), 0x1p52))
}
