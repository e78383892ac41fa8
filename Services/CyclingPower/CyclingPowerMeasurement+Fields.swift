internal import PeripheralKit

extension CyclingPowerMeasurement {
    /// The distribution of power between the pedals.
    public struct PedalPowerBalance: Equatable, Sendable {
        /// One pedal's share of the power in percent, 0 to 100 in steps of 0.5.
        public var percent: Double
        /// The encoded value of 100 %.
        static let all: UInt8 = 200

        /// Whether the percentage describes the left pedal.
        ///
        /// If the property is `false`, the pedal is unknown.
        public var isOfLeftPedal: Bool

        /// Creates a pedal power balance from the percentage of one pedal.
        public init(percent: Double, isOfLeftPedal: Bool = false) {
            self.percent = percent
            self.isOfLeftPedal = isOfLeftPedal
        }
    }

    /// The accumulated torque.
    ///
    /// The sensor adds one torque value to the accumulated torque after each revolution.
    public struct AccumulatedTorque: Equatable, Sendable {
        /// The accumulated torque in newton meters.
        ///
        /// Encoding rounds the accumulated torque to the nearest step of 1/32 newton meter. The encoded
        /// torque restarts at 0 when the accumulated torque reaches 2048 newton meters. A negative torque or
        /// NaN is encoded as 0.
        public var newtonMeters: Double
        /// Whether the sensor measures torques at the crank.
        ///
        /// If the property is `false`, the sensor measures torques at the wheel.
        public var isOfCrank: Bool

        /// Creates an accumulated torque in newton meters.
        public init(newtonMeters: Double, isOfCrank: Bool) {
            self.newtonMeters = newtonMeters
            self.isOfCrank = isOfCrank
        }

        var steps: UInt16 {
            UInt16(truncatingIfNeeded: max(PeripheralCyclingPower.steps(newtonMeters, perUnit: 32), 0))
        }
    }

    /// The maximum and the minimum value during one crank revolution.
    public struct Extremes: Equatable, Sendable {
        /// The maximum force, the maximum torque, or a crank angle.
        ///
        /// The crank angle is the angle at which the force or torque reaches the maximum.
        public var maximum: Double
        /// The minimum force, the minimum torque, or a crank angle.
        ///
        /// The crank angle is the angle at which the force or torque reaches the minimum.
        public var minimum: Double

        /// Creates an instance from a maximum value and a minimum value.
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
    /// A central can disable any optional value (Cycling Power Service 1.1, section 3.4.2.13).
    ///
    /// Do not use `Content` to include wheel revolutions in measurements. If a sensor reports wheel
    /// revolutions, centrals must be able to set the wheel revolution count. To include wheel revolutions in
    /// measurements, pass `onSetWheelRevolutions` to the initializer of ``CyclingPowerService``.
    public struct Content: OptionSet, Sendable {
        /// The encoded bits.
        ///
        /// Bits 9 through 15 are reserved.
        public let rawValue: UInt16

        /// Creates a set of measured values from encoded bits.
        ///
        /// The set can contain bits that the Cycling Power Service specification does not define.
        public init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        /// The distribution of power between the pedals.
        public static let pedalPowerBalance = Content(rawValue: 1 << 0)
        /// The accumulated torque.
        public static let accumulatedTorque = Content(rawValue: 1 << 1)
        /// The wheel revolutions.
        ///
        /// Measurements contain the wheel revolutions if centrals can set the wheel revolution count.
        @available(
            *,
            unavailable,
            message: "to include wheel revolutions, pass onSetWheelRevolutions to the service"
        )
        public static var wheelRevolutions: Content { Content(rawValue: 1 << 2) }
        /// The revolutions of the crank.
        public static let crankRevolutions = Content(rawValue: 1 << 3)
        /// The maximum and the minimum force or torque.
        public static let extremeMagnitudes = Content(rawValue: 1 << 4)
        /// The crank angles at the maximum and the minimum force or torque.
        public static let extremeAngles = Content(rawValue: 1 << 5)
        /// The crank angle at which the power becomes positive.
        public static let topDeadSpotAngle = Content(rawValue: 1 << 6)
        /// The crank angle at which the power becomes negative.
        public static let bottomDeadSpotAngle = Content(rawValue: 1 << 7)
        /// The accumulated energy.
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
