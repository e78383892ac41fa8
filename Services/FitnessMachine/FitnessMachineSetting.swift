public import PeripheralKit

/// Something that centrals can set at a machine, with the range that is supported.
///
/// ```swift
/// FitnessMachineSetting.targetPower(watts: 0...400, step: 5)
/// ```
///
/// The Target Setting Features and the characteristics that tell the ranges follow from it.
public struct FitnessMachineSetting: Hashable, Sendable {
    /// The op code of the request that sets it.
    let opCode: UInt8
    /// What is supported; `nil` when nobody asks for it.
    let bounds: ClosedRange<Double>?
    let step: Double
    /// The speeds of a spin down.
    let spinDown: SpinDownSpeeds?

    private init(
        _ opCode: UInt8,
        _ bounds: ClosedRange<Double>? = nil,
        step: Double = 0,
        spinDown: SpinDownSpeeds? = nil
    ) {
        self.opCode = opCode
        self.bounds = bounds
        self.step = step
        self.spinDown = spinDown
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

    /// The resistance level, 0 to 25.5 in steps of 0.1.
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
    public static let targetedEnergy = FitnessMachineSetting(0x09)
    /// The number of steps of a training.
    public static let targetedSteps = FitnessMachineSetting(0x0A)
    /// The number of strides of a training.
    public static let targetedStrides = FitnessMachineSetting(0x0B)
    /// The distance of a training.
    public static let targetedDistance = FitnessMachineSetting(0x0C)
    /// The duration of a training.
    public static let targetedTime = FitnessMachineSetting(0x0D)
    /// The times in two zones of the heart rate.
    public static let targetedTimeInTwoHeartRateZones = FitnessMachineSetting(0x0E)
    /// The times in three zones of the heart rate.
    public static let targetedTimeInThreeHeartRateZones = FitnessMachineSetting(0x0F)
    /// The times in five zones of the heart rate.
    public static let targetedTimeInFiveHeartRateZones = FitnessMachineSetting(0x10)
    /// What an indoor bike simulates.
    public static let bikeSimulation = FitnessMachineSetting(0x11)
    /// The circumference of the wheel.
    public static let wheelCircumference = FitnessMachineSetting(0x12)

    /// The calibration by spin down, between these speeds.
    public static func spinDown(_ speeds: SpinDownSpeeds) -> FitnessMachineSetting {
        FitnessMachineSetting(0x13, spinDown: speeds)
    }

    /// The cadence.
    public static let targetedCadence = FitnessMachineSetting(0x14)
}

/// A quantity whose range a machine tells.
public protocol SupportedQuantity: Sendable {
    /// How its bounds are written.
    static var format: FitnessMachineFormat { get }
}

/// A speed in kilometers per hour: 0 to 655.35 in steps of 0.01.
public enum SupportedSpeed: SupportedQuantity {
    /// Two bytes.
    public static var format: FitnessMachineFormat { .hundredths16 }
}

/// An inclination in percent: −3276.8 to 3276.7 in steps of 0.1.
public enum SupportedInclination: SupportedQuantity {
    /// Two bytes with a sign.
    public static var format: FitnessMachineFormat { .signedTenths16 }
}

/// A resistance level: −3276.8 to 3276.7 in steps of 0.1.
public enum SupportedResistanceLevel: SupportedQuantity {
    /// Two bytes with a sign.
    public static var format: FitnessMachineFormat { .signedTenths16 }
}

/// A power in watts: −32 768 to 32 767.
public enum SupportedPower: SupportedQuantity {
    /// Two bytes with a sign.
    public static var format: FitnessMachineFormat { .sint16 }
}

/// A heart rate in beats per minute: 0 to 255.
public enum SupportedHeartRate: SupportedQuantity {
    /// One byte.
    public static var format: FitnessMachineFormat { .uint8 }
}

/// What a machine supports of a quantity: the value of the Supported Speed Range, 0x2AD4, Inclination Range, 0x2AD5, Resistance
/// Level Range, 0x2AD6, Heart Rate Range, 0x2AD7, and Power Range, 0x2AD8 (Fitness Machine Service 1.0, sections 4.11 to
/// 4.15).
public struct SupportedRange<Quantity: SupportedQuantity>: Equatable, Sendable {
    /// The least.
    public var minimum: Double

    /// The most.
    public var maximum: Double

    /// The smallest step that makes a difference.
    public var step: Double

    /// Makes a range; what is out of the quantity's range is sent as its end.
    public init(minimum: Double, maximum: Double, step: Double) {
        self.minimum = minimum
        self.maximum = maximum
        self.step = step
    }
}

extension SupportedRange: GATTValue {
    /// Reads three numbers.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let format = Quantity.format
        minimum = Double(format.integer(try reader.readBytes(format.size))) / format.one
        maximum = Double(format.integer(try reader.readBytes(format.size))) / format.one
        step = Double(format.unsigned.integer(try reader.readBytes(format.size))) / format.one
    }

    /// Appends three numbers.
    public func encode(into writer: inout ByteWriter) {
        let format = Quantity.format
        writer.write(format.bytes(format.integer(minimum)))
        writer.write(format.bytes(format.integer(maximum)))
        writer.write(format.bytes(format.unsigned.integer(step)))
    }
}
