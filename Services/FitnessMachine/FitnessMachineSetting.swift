public import PeripheralKit

/// Something that centrals can set at a machine, with the range that is supported.
///
/// ```swift
/// FitnessMachineSetting.targetPower(watts: 0...400, step: 5)
/// ```
///
/// The Target Setting Features and the characteristics that tell the ranges follow from it. The bounds of a range are rounded to
/// the steps in which they are told; what is beyond these is refused (Fitness Machine Service 1.0, section 4.16.2.22).
public struct FitnessMachineSetting: Sendable {
    /// The op code of the request that sets it.
    let opCode: UInt8
    /// What is supported, or the speeds of a spin down; `nil` when nobody asks for it.
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

    /// The bit of the Target Setting Features: their order is that of the requests, which have start and stop in between.
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

    /// The resistance level, −3276.8 to 3276.7 in steps of 0.1; most centrals set 0 to 25.5 only.
    public static func targetResistanceLevel(
        _ levels: ClosedRange<Double>,
        step: Double
    ) -> FitnessMachineSetting {
        FitnessMachineSetting(0x04, levels, step: step)
    }

    /// The power in watts, −32 768 to 32 767.
    public static func targetPower(watts: ClosedRange<Int>, step: Int = 1) -> FitnessMachineSetting {
        FitnessMachineSetting(0x05, Double(watts.lowerBound)...Double(watts.upperBound), step: Double(step))
    }

    /// The heart rate in beats per minute, 0 to 255.
    public static func targetHeartRate(bpm: ClosedRange<Int>, step: Int = 1) -> FitnessMachineSetting {
        FitnessMachineSetting(0x06, Double(bpm.lowerBound)...Double(bpm.upperBound), step: Double(step))
    }

    /// The energy to expend in a training.
    public static var targetedEnergy: FitnessMachineSetting { FitnessMachineSetting(0x09) }
    /// The number of steps of a training.
    public static var targetedSteps: FitnessMachineSetting { FitnessMachineSetting(0x0A) }
    /// The number of strides of a training.
    public static var targetedStrides: FitnessMachineSetting { FitnessMachineSetting(0x0B) }
    /// The distance of a training.
    public static var targetedDistance: FitnessMachineSetting { FitnessMachineSetting(0x0C) }
    /// The duration of a training.
    public static var targetedTime: FitnessMachineSetting { FitnessMachineSetting(0x0D) }
    /// The times in two zones of the heart rate.
    public static var targetedTimeInTwoHeartRateZones: FitnessMachineSetting { FitnessMachineSetting(0x0E) }
    /// The times in three zones of the heart rate.
    public static var targetedTimeInThreeHeartRateZones: FitnessMachineSetting { FitnessMachineSetting(0x0F) }
    /// The times in five zones of the heart rate.
    public static var targetedTimeInFiveHeartRateZones: FitnessMachineSetting { FitnessMachineSetting(0x10) }
    /// What an indoor bike simulates.
    public static var bikeSimulation: FitnessMachineSetting { FitnessMachineSetting(0x11) }
    /// The circumference of the wheel.
    public static var wheelCircumference: FitnessMachineSetting { FitnessMachineSetting(0x12) }

    /// The calibration by spin down, from the higher of these speeds to the lower, in kilometers per hour: 0 to 655.35 in steps
    /// of 0.01.
    public static func spinDown(kilometersPerHour: ClosedRange<Double>) -> FitnessMachineSetting {
        FitnessMachineSetting(0x13, kilometersPerHour)
    }

    /// The cadence.
    public static var targetedCadence: FitnessMachineSetting { FitnessMachineSetting(0x14) }
}

extension FitnessMachineSetting {
    /// How the bounds are told.
    private var format: FitnessMachineFormat {
        switch opCode {
        case 0x02: .hundredths16
        case 0x05: .sint16
        case 0x06: .uint8
        default: .signedTenths16
        }
    }

    /// Whether a number is within the bounds as they are told.
    func takes(_ number: Double) -> Bool {
        // A spin down has speeds, not a range.
        guard opCode != 0x13, let bounds else { return true }
        let (format, integer) = (self.format, self.format.integer(number))
        return format.integer(bounds.lowerBound) <= integer && integer <= format.integer(bounds.upperBound)
    }

    /// The range that is told; `nil` when there is none.
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

/// What a machine supports of a quantity: the value of the Supported Speed Range, 0x2AD4, Inclination Range, 0x2AD5, Resistance
/// Level Range, 0x2AD6, Heart Rate Range, 0x2AD7, and Power Range, 0x2AD8 (Fitness Machine Service 1.0, sections 4.11 to
/// 4.15).
public struct SupportedRange: Equatable, Sendable {
    private let bytes: [UInt8]

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The range of a setting; `nil` when it has none.
    public init?(_ setting: FitnessMachineSetting) {
        guard let range = setting.range else { return nil }
        self = range.value
    }

    /// The speeds in kilometers per hour, of the Supported Speed Range.
    public var kilometersPerHour: Limits { limits(.hundredths16) }

    /// The inclinations in percent, of the Supported Inclination Range.
    public var percent: Limits { limits(.signedTenths16) }

    /// The resistance levels, of the Supported Resistance Level Range.
    public var levels: Limits { limits(.signedTenths16) }

    /// The powers in watts, of the Supported Power Range.
    public var watts: Limits { limits(.sint16) }

    /// The heart rates in beats per minute, of the Supported Heart Rate Range.
    public var bpm: Limits { limits(.uint8) }

    /// What can be set: from where, to where, and how finely.
    public struct Limits: Equatable, Sendable {
        /// The least that can be set.
        public let minimum: Double
        /// The most that can be set.
        public let maximum: Double
        /// By how much it can be changed.
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
    /// Reads three numbers, of one or two bytes each.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        bytes = try reader.readBytes(reader.remainingCount < 6 ? 3 : 6)
    }

    /// Appends three numbers.
    public func encode(into writer: inout ByteWriter) {
        writer.write(bytes)
    }
}
