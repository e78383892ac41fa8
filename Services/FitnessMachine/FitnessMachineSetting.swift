public import PeripheralKit

/// A machine setting that centrals can change, with the supported range of the setting.
///
/// ```swift
/// FitnessMachineSetting.targetPower(watts: 0...400, step: 5)
/// ```
///
/// The declared settings determine the Target Setting Features field, and the characteristics for the
/// supported ranges. Encoding rounds each bound of a range to the nearest encodable value. The service
/// refuses values outside the rounded bounds (Fitness Machine Service 1.0, section 4.16.2.22).
public struct FitnessMachineSetting: Sendable {
    /// The op code of the request that changes the setting.
    let opCode: UInt8
    /// The supported range, or the speeds of a spin-down; `nil` for settings without a range.
    let bounds: ClosedRange<Double>?
    let step: Double

    private init(
        _ opCode: UInt8,
        _ bounds: ClosedRange<Double>? = nil,
        step: Double = 0
    ) {
        self.opCode = opCode
        self.bounds = bounds
        self.step = step
    }

    /// The bit of the Target Setting Features.
    ///
    /// The bits have the order of the requests, which also include start and stop.
    var featureBit: UInt8 { opCode < 0x07 ? opCode - 2 : opCode - 4 }

    /// The speed in kilometers per hour, 0 to 655.35 in steps of 0.01.
    public static func targetSpeed(
        kilometersPerHour: ClosedRange<Double>,
        step: Double
    ) -> FitnessMachineSetting {
        FitnessMachineSetting(0x02, kilometersPerHour, step: step)
    }

    /// The inclination in percent, −3276.8 to 3276.7 in steps of 0.1.
    public static func targetInclination(
        percent: ClosedRange<Double>,
        step: Double
    ) -> FitnessMachineSetting {
        FitnessMachineSetting(0x03, percent, step: step)
    }

    /// The resistance level, −3276.8 to 3276.7 in steps of 0.1.
    ///
    /// Most centrals set only resistance levels from 0 to 25.5.
    public static func targetResistanceLevel(
        _ levels: ClosedRange<Double>,
        step: Double
    ) -> FitnessMachineSetting {
        FitnessMachineSetting(0x04, levels, step: step)
    }

    /// The power in watts, −32,768 to 32,767.
    public static func targetPower(watts: ClosedRange<Int>, step: Int = 1) -> FitnessMachineSetting {
        FitnessMachineSetting(0x05, Double(watts.lowerBound)...Double(watts.upperBound), step: Double(step))
    }

    /// The heart rate in beats per minute, 0 to 255.
    public static func targetHeartRate(bpm: ClosedRange<Int>, step: Int = 1) -> FitnessMachineSetting {
        FitnessMachineSetting(0x06, Double(bpm.lowerBound)...Double(bpm.upperBound), step: Double(step))
    }

    /// The target energy expenditure of a workout.
    public static var targetedEnergy: FitnessMachineSetting { FitnessMachineSetting(0x09) }
    /// The target number of steps in a workout.
    public static var targetedSteps: FitnessMachineSetting { FitnessMachineSetting(0x0A) }
    /// The target number of strides in a workout.
    public static var targetedStrides: FitnessMachineSetting { FitnessMachineSetting(0x0B) }
    /// The target distance of a workout.
    public static var targetedDistance: FitnessMachineSetting { FitnessMachineSetting(0x0C) }
    /// The target duration of a workout.
    public static var targetedTime: FitnessMachineSetting { FitnessMachineSetting(0x0D) }
    /// The target times for two heart rate zones.
    public static var targetedTimeInTwoHeartRateZones: FitnessMachineSetting { FitnessMachineSetting(0x0E) }
    /// The target times for three heart rate zones.
    public static var targetedTimeInThreeHeartRateZones: FitnessMachineSetting { FitnessMachineSetting(0x0F) }
    /// The target times for five heart rate zones.
    public static var targetedTimeInFiveHeartRateZones: FitnessMachineSetting { FitnessMachineSetting(0x10) }
    /// The parameters of an indoor bike simulation.
    public static var bikeSimulation: FitnessMachineSetting { FitnessMachineSetting(0x11) }
    /// The circumference of the wheel.
    public static var wheelCircumference: FitnessMachineSetting { FitnessMachineSetting(0x12) }

    /// A spin-down of the wheel to calibrate the machine.
    ///
    /// The wheel slows down from the upper bound to the lower bound of the speed range. The bounds of the
    /// speed range are in kilometers per hour, 0 to 655.35 in steps of 0.01.
    public static func spinDown(kilometersPerHour: ClosedRange<Double>) -> FitnessMachineSetting {
        FitnessMachineSetting(0x13, kilometersPerHour)
    }

    /// The cadence.
    public static var targetedCadence: FitnessMachineSetting { FitnessMachineSetting(0x14) }
}

extension FitnessMachineSetting {
    /// The encoding of the bounds.
    private var format: FitnessMachineFormat {
        switch opCode {
        case 0x02: .hundredths16
        case 0x05: .sint16
        case 0x06: .uint8
        default: .signedTenths16
        }
    }

    /// Whether a number is within the encoded bounds.
    func takes(_ number: Double) -> Bool {
        // A spin-down has speeds, not a range.
        guard opCode != 0x13, let bounds else { return true }
        let (format, integer) = (self.format, self.format.integer(number))
        return format.integer(bounds.lowerBound) <= integer && integer <= format.integer(bounds.upperBound)
    }

    /// The characteristic type and the value of the supported range; `nil` when there is none.
    var range: (type: BluetoothUUID, value: SupportedRange)? {
        guard let bounds else { return nil }
        let type: BluetoothUUID
        switch opCode {
        case 0x02: type = .supportedSpeedRange
        case 0x03: type = .supportedInclinationRange
        case 0x04: type = .supportedResistanceLevelRange
        case 0x05: type = .supportedPowerRange
        case 0x06: type = .supportedHeartRateRange
        default: return nil
        }
        let format = format
        var bytes: [UInt8] = []
        for number in [bounds.lowerBound, bounds.upperBound, step] { bytes += format.bytes(of: number) }
        return (type, SupportedRange(bytes: bytes))
    }
}

/// The supported range of a machine setting.
///
/// This type represents the value of one of these characteristics (Fitness Machine Service 1.0, sections 4.11
/// to 4.15):
///
/// - the Supported Speed Range characteristic, 0x2AD4
/// - the Supported Inclination Range characteristic, 0x2AD5
/// - the Supported Resistance Level Range characteristic, 0x2AD6
/// - the Supported Heart Rate Range characteristic, 0x2AD7
/// - the Supported Power Range characteristic, 0x2AD8
public struct SupportedRange: Equatable, Sendable {
    private let bytes: [UInt8]

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Creates the supported range of a setting.
    ///
    /// The initializer returns `nil` if the setting has no range.
    public init?(_ setting: FitnessMachineSetting) {
        guard let range = setting.range else { return nil }
        self = range.value
    }

    /// The limits of the Supported Speed Range, in kilometers per hour.
    public var kilometersPerHour: Limits { limits(.hundredths16) }

    /// The limits of the Supported Inclination Range, in percent.
    public var percent: Limits { limits(.signedTenths16) }

    /// The limits of the Supported Resistance Level Range.
    public var levels: Limits { limits(.signedTenths16) }

    /// The limits of the Supported Power Range, in watts.
    public var watts: Limits { limits(.sint16) }

    /// The limits of the Supported Heart Rate Range, in beats per minute.
    public var bpm: Limits { limits(.uint8) }

    /// The minimum, the maximum and the step of a setting.
    public struct Limits: Equatable, Sendable {
        /// The minimum value.
        public let minimum: Double
        /// The maximum value.
        public let maximum: Double
        /// The smallest increment.
        public let step: Double
    }

    private func limits(_ format: FitnessMachineFormat) -> Limits {
        func number(_ place: Int) -> Double {
            format.number(bytes.dropFirst(place * format.size).prefix(format.size))
        }
        return Limits(minimum: number(0), maximum: number(1), step: number(2))
    }
}

extension SupportedRange: GATTValue {
    /// Reads the minimum, the maximum and the step.
    ///
    /// Each of the three numbers has one or two bytes.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        bytes = try reader.readBytes(reader.remainingCount < 6 ? 3 : 6)
    }

    /// Appends the minimum, the maximum and the step.
    public func encode(into writer: inout ByteWriter) {
        writer.write(bytes)
    }
}
