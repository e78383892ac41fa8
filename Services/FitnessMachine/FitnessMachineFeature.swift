public import PeripheralKit

/// The features of a fitness machine, and the settings that centrals can change.
///
/// This type represents the value of the Fitness Machine Feature characteristic, 0x2ACC (Fitness Machine
/// Service 1.0, section 4.3). ``FitnessMachineService`` derives the features from the parameters of its
/// initializer. For example, `feature.contains(.powerTarget)` returns whether centrals can set the target
/// power.
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

    /// Creates a set of features from the encoded bits.
    ///
    /// The set can contain bits that the Fitness Machine Service specification does not define.
    ///
    /// - Parameter rawValue: The encoded bits. The lower 32 bits contain the Fitness Machine Features. The
    ///   upper 32 bits contain the Target Setting Features.
    public init(rawValue: UInt64) {
        machine = UInt32(truncatingIfNeeded: rawValue)
        targetSettings = UInt32(truncatingIfNeeded: rawValue >> 32)
    }

    /// Creates the union of several sets of features.
    public init(_ features: [FitnessMachineFeature]) {
        machine = features.reduce(0) { $0 | $1.machine }
        targetSettings = features.reduce(0) { $0 | $1.targetSettings }
    }

    /// The encoded bits of the features.
    ///
    /// The lower 32 bits contain the Fitness Machine Features. The upper 32 bits contain the Target Setting
    /// Features.
    public var rawValue: UInt64 {
        UInt64(targetSettings) << 32 | UInt64(machine)
    }

    /// Returns whether the set contains all of the given features.
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
    /// The machine retains user data.
    public static var userDataRetention: Self { Self(rawValue: 1 << 16) }

    // MARK: Target Setting Features

    /// Centrals can set the speed of the machine.
    public static var speedTarget: Self { Self(rawValue: 1 << 32) }
    /// Centrals can set the inclination of the machine.
    public static var inclinationTarget: Self { Self(rawValue: 1 << 33) }
    /// Centrals can set the resistance level of the machine.
    public static var resistanceTarget: Self { Self(rawValue: 1 << 34) }
    /// Centrals can set the target power.
    public static var powerTarget: Self { Self(rawValue: 1 << 35) }
    /// Centrals can set the target heart rate.
    public static var heartRateTarget: Self { Self(rawValue: 1 << 36) }
    /// Centrals can set the target energy expenditure of a workout.
    public static var targetedExpendedEnergy: Self { Self(rawValue: 1 << 37) }
    /// Centrals can set the target number of steps in a workout.
    public static var targetedStepNumber: Self { Self(rawValue: 1 << 38) }
    /// Centrals can set the target number of strides in a workout.
    public static var targetedStrideNumber: Self { Self(rawValue: 1 << 39) }
    /// Centrals can set the target distance of a workout.
    public static var targetedDistance: Self { Self(rawValue: 1 << 40) }
    /// Centrals can set the target duration of a workout.
    public static var targetedTrainingTime: Self { Self(rawValue: 1 << 41) }
    /// Centrals can set a target time for each of two heart rate zones.
    public static var targetedTimeInTwoHeartRateZones: Self { Self(rawValue: 1 << 42) }
    /// Centrals can set a target time for each of three heart rate zones.
    public static var targetedTimeInThreeHeartRateZones: Self { Self(rawValue: 1 << 43) }
    /// Centrals can set a target time for each of five heart rate zones.
    public static var targetedTimeInFiveHeartRateZones: Self { Self(rawValue: 1 << 44) }
    /// Centrals can set the parameters of an indoor bike simulation.
    public static var bikeSimulation: Self { Self(rawValue: 1 << 45) }
    /// Centrals can set the circumference of the wheel.
    public static var wheelCircumference: Self { Self(rawValue: 1 << 46) }
    /// Centrals can request a spin-down of the wheel for calibration.
    public static var spinDown: Self { Self(rawValue: 1 << 47) }
    /// Centrals can set the target cadence.
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
