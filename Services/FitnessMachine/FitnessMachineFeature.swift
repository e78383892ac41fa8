public import PeripheralKit

/// The features of a machine, and the settings that centrals can change.
///
/// This type represents the value of the Fitness Machine Feature characteristic, 0x2ACC (Fitness Machine
/// Service 1.0, section 4.3). The service derives the features from its parameters. A central checks for a
/// feature with `feature.contains(.powerTarget)`.
public struct FitnessMachineFeature: Equatable, Sendable {
    /// The Fitness Machine Features.
    private let machine: UInt32

    /// The Target Setting Features.
    private let targetSettings: UInt32

    /// Creates features from the bits of both halves.
    init(machine: UInt32, targetSettings: UInt32) {
        self.machine = machine
        self.targetSettings = targetSettings
    }

    /// Creates features from their bits.
    ///
    /// Bits that the specification does not define are allowed.
    ///
    /// - Parameter rawValue: The Fitness Machine Features in the lower half, and the Target Setting Features
    ///   in the upper half.
    public init(rawValue: UInt64) {
        machine = UInt32(truncatingIfNeeded: rawValue)
        targetSettings = UInt32(truncatingIfNeeded: rawValue >> 32)
    }

    /// Creates the union of several features.
    public init(_ features: [FitnessMachineFeature]) {
        machine = features.reduce(0) { $0 | $1.machine }
        targetSettings = features.reduce(0) { $0 | $1.targetSettings }
    }

    /// The bits of the features.
    ///
    /// The lower half contains the Fitness Machine Features. The upper half contains the Target Setting
    /// Features.
    public var rawValue: UInt64 {
        UInt64(targetSettings) << 32 | UInt64(machine)
    }

    /// Returns whether the value contains all of the given features.
    public func contains(_ features: FitnessMachineFeature) -> Bool {
        rawValue & features.rawValue == features.rawValue
    }

    // MARK: Fitness Machine Features

    /// The machine reports the average speed.
    public static var averageSpeed: Self { Self(rawValue: 1 << 0) }
    /// The machine reports the cadence.
    public static var cadence: Self { Self(rawValue: 1 << 1) }
    /// The machine reports the distance.
    public static var totalDistance: Self { Self(rawValue: 1 << 2) }
    /// The machine reports the inclination.
    public static var inclination: Self { Self(rawValue: 1 << 3) }
    /// The machine reports the elevation gain.
    public static var elevationGain: Self { Self(rawValue: 1 << 4) }
    /// The machine reports the pace.
    public static var pace: Self { Self(rawValue: 1 << 5) }
    /// The machine counts steps.
    public static var stepCount: Self { Self(rawValue: 1 << 6) }
    /// The machine reports the resistance level.
    public static var resistanceLevel: Self { Self(rawValue: 1 << 7) }
    /// The machine counts strides.
    public static var strideCount: Self { Self(rawValue: 1 << 8) }
    /// The machine reports the energy expended.
    public static var expendedEnergy: Self { Self(rawValue: 1 << 9) }
    /// The machine reports the heart rate.
    public static var heartRate: Self { Self(rawValue: 1 << 10) }
    /// The machine reports the metabolic equivalent.
    public static var metabolicEquivalent: Self { Self(rawValue: 1 << 11) }
    /// The machine reports the elapsed time.
    public static var elapsedTime: Self { Self(rawValue: 1 << 12) }
    /// The machine reports the remaining time.
    public static var remainingTime: Self { Self(rawValue: 1 << 13) }
    /// The machine reports the power.
    public static var power: Self { Self(rawValue: 1 << 14) }
    /// The machine reports the force on the belt, and the resulting power.
    public static var forceOnBeltAndPowerOutput: Self { Self(rawValue: 1 << 15) }
    /// The machine retains the data of its users.
    public static var userDataRetention: Self { Self(rawValue: 1 << 16) }

    // MARK: Target Setting Features

    /// The speed can be set.
    public static var speedTarget: Self { Self(rawValue: 1 << 32) }
    /// The inclination can be set.
    public static var inclinationTarget: Self { Self(rawValue: 1 << 33) }
    /// The resistance level can be set.
    public static var resistanceTarget: Self { Self(rawValue: 1 << 34) }
    /// The power can be set.
    public static var powerTarget: Self { Self(rawValue: 1 << 35) }
    /// The heart rate can be set.
    public static var heartRateTarget: Self { Self(rawValue: 1 << 36) }
    /// The energy to expend can be set.
    public static var targetedExpendedEnergy: Self { Self(rawValue: 1 << 37) }
    /// The number of steps can be set.
    public static var targetedStepNumber: Self { Self(rawValue: 1 << 38) }
    /// The number of strides can be set.
    public static var targetedStrideNumber: Self { Self(rawValue: 1 << 39) }
    /// The distance can be set.
    public static var targetedDistance: Self { Self(rawValue: 1 << 40) }
    /// The duration can be set.
    public static var targetedTrainingTime: Self { Self(rawValue: 1 << 41) }
    /// The times in two heart rate zones can be set.
    public static var targetedTimeInTwoHeartRateZones: Self { Self(rawValue: 1 << 42) }
    /// The times in three heart rate zones can be set.
    public static var targetedTimeInThreeHeartRateZones: Self { Self(rawValue: 1 << 43) }
    /// The times in five heart rate zones can be set.
    public static var targetedTimeInFiveHeartRateZones: Self { Self(rawValue: 1 << 44) }
    /// The machine simulates a ride on an indoor bike.
    public static var bikeSimulation: Self { Self(rawValue: 1 << 45) }
    /// The circumference of the wheel can be set.
    public static var wheelCircumference: Self { Self(rawValue: 1 << 46) }
    /// The machine can be calibrated by a spin down.
    public static var spinDown: Self { Self(rawValue: 1 << 47) }
    /// The cadence can be set.
    public static var targetedCadence: Self { Self(rawValue: 1 << 48) }
}

extension FitnessMachineFeature: GATTValue {
    /// Reads 8 bytes.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        machine = try reader.read()
        targetSettings = try reader.read()
    }

    /// Appends 8 bytes.
    public func encode(into writer: inout ByteWriter) {
        writer.write(machine)
        writer.write(targetSettings)
    }
}
