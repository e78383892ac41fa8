public import PeripheralKit

/// The features of a machine, and the settings that centrals can change.
///
/// It is the value of the Fitness Machine Feature, 0x2ACC (Fitness Machine Service 1.0, section 4.3). The
/// service derives it from its parameters. A central checks for a feature with
/// `feature.contains(.powerTarget)`.
public struct FitnessMachineFeature: Equatable, Sendable {
    /// The Fitness Machine Features.
    private let machine: UInt32

    /// The Target Setting Features.
    private let targetSettings: UInt32

    /// Makes features from the bits of both halves.
    init(machine: UInt32, targetSettings: UInt32) {
        self.machine = machine
        self.targetSettings = targetSettings
    }

    /// Makes features from their bits, defined by the specification or not.
    ///
    /// - Parameter rawValue: The Fitness Machine Features in the lower half, the Target Setting Features in
    ///   the upper one.
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
    /// The lower half has the Fitness Machine Features, and the upper half the Target Setting Features.
    public var rawValue: UInt64 {
        UInt64(targetSettings) << 32 | UInt64(machine)
    }

    /// Returns whether all of the given features are among these.
    public func contains(_ features: FitnessMachineFeature) -> Bool {
        rawValue & features.rawValue == features.rawValue
    }

    // MARK: Fitness Machine Features

    /// It reports the average speed.
    public static var averageSpeed: Self { Self(rawValue: 1 << 0) }
    /// It reports the cadence.
    public static var cadence: Self { Self(rawValue: 1 << 1) }
    /// It reports the distance.
    public static var totalDistance: Self { Self(rawValue: 1 << 2) }
    /// It reports the inclination.
    public static var inclination: Self { Self(rawValue: 1 << 3) }
    /// It reports the elevation gain.
    public static var elevationGain: Self { Self(rawValue: 1 << 4) }
    /// It reports the pace.
    public static var pace: Self { Self(rawValue: 1 << 5) }
    /// It counts steps.
    public static var stepCount: Self { Self(rawValue: 1 << 6) }
    /// It reports the resistance level.
    public static var resistanceLevel: Self { Self(rawValue: 1 << 7) }
    /// It counts strides.
    public static var strideCount: Self { Self(rawValue: 1 << 8) }
    /// It reports the energy expended.
    public static var expendedEnergy: Self { Self(rawValue: 1 << 9) }
    /// It reports the heart rate.
    public static var heartRate: Self { Self(rawValue: 1 << 10) }
    /// It reports the metabolic equivalent.
    public static var metabolicEquivalent: Self { Self(rawValue: 1 << 11) }
    /// It reports the elapsed time.
    public static var elapsedTime: Self { Self(rawValue: 1 << 12) }
    /// It reports the remaining time.
    public static var remainingTime: Self { Self(rawValue: 1 << 13) }
    /// It reports the power.
    public static var power: Self { Self(rawValue: 1 << 14) }
    /// It reports the force on the belt, and the resulting power.
    public static var forceOnBeltAndPowerOutput: Self { Self(rawValue: 1 << 15) }
    /// It retains the data of its users.
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
    /// It simulates a ride on an indoor bike.
    public static var bikeSimulation: Self { Self(rawValue: 1 << 45) }
    /// The circumference of the wheel can be set.
    public static var wheelCircumference: Self { Self(rawValue: 1 << 46) }
    /// It can be calibrated by a spin down.
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
