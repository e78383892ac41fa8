public import PeripheralKit
public import PeripheralSensorLocation

/// A measurement of a rider's power.
///
/// This type represents the value of the Cycling Power Measurement characteristic, 0x2A63 (Cycling Power
/// Service 1.1, section 3.2).
///
/// ```swift
/// CyclingPowerMeasurement(watts: 215, crank: CrankRevolutions(1234, at: .seconds(60.5)))
/// ```
///
/// Encoding rounds each value to the nearest step, and limits the value to its range. If a measurement does
/// not fit into one notification, ``CyclingPowerService/notify(_:in:)`` sends the measurement in several
/// notifications.
public struct CyclingPowerMeasurement: Equatable, Sendable {
    /// The power in watts.
    ///
    /// The power is negative if the rider brakes with the pedals.
    public var watts: Int16
    /// The distribution of power between the pedals.
    public var balance: PedalPowerBalance?
    /// The accumulated torque: the sum of the measured torques.
    public var accumulatedTorque: AccumulatedTorque?
    /// The revolutions of the wheel.
    public var wheel: WheelRevolutions?
    /// The revolutions of the crank.
    public var crank: CrankRevolutions?
    /// The maximum and the minimum force during the last crank revolution, in newtons.
    ///
    /// The range of a force is −32,768 to 32,767 newtons in steps of 1. Set `forces` only if the sensor
    /// measures forces.
    public var forces: Extremes?
    /// The maximum and the minimum torque during the last crank revolution, in newton meters.
    ///
    /// The range of a torque is −1024 to 1023.96875 newton meters in steps of 1/32. Set `torques` only if the
    /// sensor measures torques.
    public var torques: Extremes?
    /// The crank angles at the maximum and the minimum force or torque, in degrees.
    ///
    /// The range of an angle is 0 to 4095 degrees in steps of 1.
    public var angles: Extremes?
    /// The crank angle at which the power becomes positive, in steps of 1 degree.
    public var topDeadSpotAngle: UInt16?
    /// The crank angle at which the power becomes negative, in steps of 1 degree.
    public var bottomDeadSpotAngle: UInt16?
    /// The energy accumulated since the last reset of the sensor, in kilojoules.
    ///
    /// The energy stays at its maximum value, 65,535, and does not restart at 0.
    public var kilojoules: UInt16?
    /// Whether the sensor's offset needs compensation: the Offset Compensation Indicator.
    ///
    /// To send the indicator, pass `true` as `reportsOffsetCompensation` to the initializer of
    /// ``CyclingPowerService``.
    public var offsetCompensationIndicator: Bool

    /// Creates a measurement.
    ///
    /// - Parameters:
    ///   - watts: The power in watts.
    ///   - balance: The distribution of power between the pedals.
    ///   - accumulatedTorque: The accumulated torque: the sum of the measured torques.
    ///   - wheel: The revolutions of the wheel.
    ///   - crank: The revolutions of the crank.
    ///   - forces: The maximum and the minimum force during the last crank revolution, in newtons.
    ///   - torques: The maximum and the minimum torque during the last crank revolution, in newton meters.
    ///   - angles: The crank angles at the maximum and the minimum force or torque, in degrees.
    ///   - topDeadSpotAngle: The crank angle at which the power becomes positive, in degrees.
    ///   - bottomDeadSpotAngle: The crank angle at which the power becomes negative, in degrees.
    ///   - kilojoules: The energy accumulated since the last reset of the sensor, in kilojoules.
    ///   - offsetCompensationIndicator: Whether the sensor's offset needs compensation.
    public init(
        watts: Int16,
        balance: PedalPowerBalance? = nil,
        accumulatedTorque: AccumulatedTorque? = nil,
        wheel: WheelRevolutions? = nil,
        crank: CrankRevolutions? = nil,
        forces: Extremes? = nil,
        torques: Extremes? = nil,
        angles: Extremes? = nil,
        topDeadSpotAngle: UInt16? = nil,
        bottomDeadSpotAngle: UInt16? = nil,
        kilojoules: UInt16? = nil,
        offsetCompensationIndicator: Bool = false
    ) {
        self.watts = watts
        self.balance = balance
        self.accumulatedTorque = accumulatedTorque
        self.wheel = wheel
        self.crank = crank
        self.forces = forces
        self.torques = torques
        self.angles = angles
        self.topDeadSpotAngle = topDeadSpotAngle
        self.bottomDeadSpotAngle = bottomDeadSpotAngle
        self.kilojoules = kilojoules
        self.offsetCompensationIndicator = offsetCompensationIndicator
    }
}

extension CyclingPowerMeasurement: GATTValue {
    private static let stepsPerSecond = 2048

    /// Decodes a measurement and ignores reserved flags.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let flags: UInt16 = try reader.read()
        self.init(watts: try reader.read(), offsetCompensationIndicator: flags & Flag.offsetCompensation != 0)
        if flags & Flag.balance != 0 {
            balance = PedalPowerBalance(
                percent: Double(min(try reader.read(UInt8.self), PedalPowerBalance.all)) / 2,
                isOfLeftPedal: flags & Flag.isOfLeftPedal != 0
            )
        }
        if flags & Flag.torque != 0 {
            accumulatedTorque = AccumulatedTorque(
                newtonMeters: Double(try reader.read(UInt16.self)) / 32,
                isOfCrank: flags & Flag.isOfCrank != 0
            )
        }
        if flags & Flag.wheel != 0 {
            wheel = try WheelRevolutions(decoding: &reader, stepsPerSecond: Self.stepsPerSecond)
        }
        if flags & Flag.crank != 0 { crank = try CrankRevolutions(decoding: &reader) }
        if flags & Flag.forces != 0 { forces = try Extremes(decoding: &reader, stepsPerUnit: 1) }
        if flags & Flag.torques != 0 { torques = try Extremes(decoding: &reader, stepsPerUnit: 32) }
        if flags & Flag.angles != 0 {
            let both = try UInt24(decoding: &reader).rawValue
            angles = Extremes(maximum: Double(both & 0xFFF), minimum: Double(both >> 12))
        }
        if flags & Flag.topDeadSpot != 0 { topDeadSpotAngle = try reader.read() }
        if flags & Flag.bottomDeadSpot != 0 { bottomDeadSpotAngle = try reader.read() }
        if flags & Flag.energy != 0 { kilojoules = try reader.read() }
    }

    /// Appends the encoded measurement, which is 4 to 34 bytes long.
    ///
    /// A sensor reports either forces or torques. A measurement with only forces or only torques has at most
    /// 30 bytes.
    public func encode(into writer: inout ByteWriter) {
        writer.write(flags)
        writer.write(watts)
        if let balance {
            writer.write(min(UInt8(clamping: steps(balance.percent, perUnit: 2)), PedalPowerBalance.all))
        }
        if let accumulatedTorque { writer.write(accumulatedTorque.steps) }
        if let wheel { wheel.encode(into: &writer, stepsPerSecond: Self.stepsPerSecond) }
        if let crank { crank.encode(into: &writer) }
        if let forces { forces.encode(into: &writer, stepsPerUnit: 1) }
        if let torques { torques.encode(into: &writer, stepsPerUnit: 32) }
        if let angles {
            let maximum = min(max(steps(angles.maximum, perUnit: 1), 0), 0xFFF)
            let minimum = min(max(steps(angles.minimum, perUnit: 1), 0), 0xFFF)
            UInt24(clamping: maximum | minimum << 12).encode(into: &writer)
        }
        if let topDeadSpotAngle { writer.write(topDeadSpotAngle) }
        if let bottomDeadSpotAngle { writer.write(bottomDeadSpotAngle) }
        if let kilojoules { writer.write(kilojoules) }
    }

    private var flags: UInt16 {
        var flags: UInt16 = offsetCompensationIndicator ? Flag.offsetCompensation : 0
        if let balance { flags |= Flag.balance | (balance.isOfLeftPedal ? Flag.isOfLeftPedal : 0) }
        if let accumulatedTorque {
            flags |= Flag.torque | (accumulatedTorque.isOfCrank ? Flag.isOfCrank : 0)
        }
        if wheel != nil { flags |= Flag.wheel }
        if crank != nil { flags |= Flag.crank }
        if forces != nil { flags |= Flag.forces }
        if torques != nil { flags |= Flag.torques }
        if angles != nil { flags |= Flag.angles }
        if topDeadSpotAngle != nil { flags |= Flag.topDeadSpot }
        if bottomDeadSpotAngle != nil { flags |= Flag.bottomDeadSpot }
        if kilojoules != nil { flags |= Flag.energy }
        return flags
    }
}

/// The bits of the first two bytes (section 3.2.1.1).
private enum Flag {
    static let balance: UInt16 = 1 << 0
    static let isOfLeftPedal: UInt16 = 1 << 1
    static let torque: UInt16 = 1 << 2
    static let isOfCrank: UInt16 = 1 << 3
    static let wheel: UInt16 = 1 << 4
    static let crank: UInt16 = 1 << 5
    static let forces: UInt16 = 1 << 6
    static let torques: UInt16 = 1 << 7
    static let angles: UInt16 = 1 << 8
    static let topDeadSpot: UInt16 = 1 << 9
    static let bottomDeadSpot: UInt16 = 1 << 10
    static let energy: UInt16 = 1 << 11
    static let offsetCompensation: UInt16 = 1 << 12
}
