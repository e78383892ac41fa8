import PeripheralCrossTrainer
import PeripheralFitnessMachine
import PeripheralIndoorBike
import PeripheralKit
import PeripheralRower
import PeripheralStairClimber
import PeripheralStepClimber
import PeripheralTreadmill

extension ServiceValues {
    static let fitnessMachine: [Sample] = [
        .sent(
            .fitnessMachineFeature,
            FitnessMachineFeature([
                .averageSpeed, .cadence, .totalDistance, .resistanceLevel, .expendedEnergy, .heartRate,
                .metabolicEquivalent, .elapsedTime, .remainingTime, .power, .powerTarget, .bikeSimulation,
            ]),
            is: ["fitness_machine_features": 0x7E87, "target_setting_features": 0x2008]
        ),
        .sent(
            .trainingStatus,
            TrainingStatus(.warmingUp, text: "5′"),
            is: ["flags": 0x01, "training_status": "WARMING_UP", "training_status_string": "5′"]
        ),
        .sent(
            .trainingStatus,
            TrainingStatus(.postWorkout),
            is: ["flags": 0x00, "training_status": "POST_WORKOUT"]
        ),
        range(.targetSpeed(kilometersPerHour: 0.5...25, step: 0.1), .supportedSpeedRange, [0.5, 25, 0.1]),
        range(
            .targetInclination(percent: -5...15.5, step: 0.5),
            .supportedInclinationRange,
            [-5, 15.5, 0.5]
        ),
        range(.targetResistanceLevel(0...10, step: 0.5), .supportedResistanceLevelRange, [0, 10, 0.5]),
        range(.targetPower(watts: -10...400, step: 5), .supportedPowerRange, [-10, 400, 5]),
        range(.targetHeartRate(bpm: 60...180), .supportedHeartRateRange, [60, 180, 1]),
        .sent(
            .fitnessMachineControlPoint,
            FitnessMachineResponse(.controlNotPermitted, to: .startOrResume),
            is: [
                "op_code": "RESPONSE_CODE", "response_op_code": "START_OR_RESUME",
                "result_code": "CONTROL_NOT_PERMITTED",
            ]
        ),
        .sent(
            .fitnessMachineStatus,
            FitnessMachineStatus.changed(.targetPower(watts: 200)),
            is: ["op_code": "TARGET_POWER_CHANGED", "parameter": .bytes([0xC8, 0x00])]
        ),
        .sent(
            .fitnessMachineStatus,
            FitnessMachineStatus.controlPermissionLost,
            is: ["op_code": "CONTROL_PERMISSION_LOST"]
        ),
        request(.requestControl, "REQUEST_CONTROL"),
        request(.targetPower(watts: 200), "SET_TARGET_POWER", [0xC8, 0x00]),
        request(.pause, "STOP_OR_PAUSE", [0x02]),
        request(.targetedDistance(meters: 10_000), "SET_TARGETED_DISTANCE", [0x10, 0x27, 0x00]),
        request(
            .bikeSimulation(BikeSimulation(gradePercent: 7.25)),
            "SET_INDOOR_BIKE_SIMULATION_PARAMETERS",
            [0x00, 0x00, 0xD5, 0x02, 0x28, 0x33]
        ),
        request(.targetedCadence(rpm: 90.5), "SET_TARGETED_CADENCE", [0xB5, 0x00]),
    ]

    private static let workout = WorkoutData(
        kilocalories: 300,
        kilocaloriesPerHour: 600,
        kilocaloriesPerMinute: 10,
        bpm: 141,
        metabolicEquivalent: 8.5,
        elapsedSeconds: 3_600,
        remainingSeconds: 600
    )

    /// What the library says of a machine's fields, and of the training.
    private static func fields(_ fields: [(String, Field)]) -> Field {
        .structure(
            (fields + [
                ("total_energy", 300), ("energy_per_hour", 600), ("energy_per_minute", 10),
                ("heart_rate", 141),
                ("metabolic_equivalent", 8.5), ("elapsed_time", 3_600), ("remaining_time", 600),
            ]).map { (name: $0.0, field: $0.1) }
        )
    }

    /// The library reads levels of resistance as a newer GATT Specification Supplement has them: they have
    /// samples without anything behind them, which it would misread.
    static let indoorBike: [Sample] = [
        .sent(
            .indoorBikeData,
            IndoorBikeData(kilometersPerHour: 31.5, resistanceLevel: 7),
            is: ["flags": 0x0020, "instantaneous_speed": 31.5, "resistance_level": 7]
        ),
        .sent(
            .indoorBikeData,
            IndoorBikeData(kilometersPerHour: 31.5),
            is: ["flags": 0x0000, "instantaneous_speed": 31.5]
        ),
        .sent(
            .indoorBikeData,
            IndoorBikeData(
                kilometersPerHour: 655.35,
                averageKilometersPerHour: 30.25,
                rpm: 90.5,
                averageRPM: 32_767.5,
                meters: 16_777_215,
                watts: 215,
                averageWatts: -32_768,
                workout: WorkoutData(
                    kilocalories: 300,
                    kilocaloriesPerHour: 600,
                    kilocaloriesPerMinute: 10,
                    bpm: 141,
                    metabolicEquivalent: 8.5,
                    elapsedSeconds: 3_600,
                    remainingSeconds: 65_535
                )
            ),
            is: [
                "flags": 0x1FDE, "instantaneous_speed": 655.35, "average_speed": 30.25,
                "instantaneous_cadence": 90.5, "average_cadence": 32_767.5, "total_distance": 16_777_215,
                "instantaneous_power": 215, "average_power": -32_768, "total_energy": 300,
                "energy_per_hour": 600, "energy_per_minute": 10, "heart_rate": 141,
                "metabolic_equivalent": 8.5, "elapsed_time": 3_600, "remaining_time": 65_535,
            ]
        ),
    ]

    /// The library reads the pace as a newer GATT Specification Supplement has it.
    static let treadmill: [Sample] = [
        .sent(
            .treadmillData,
            TreadmillData(kilometersPerHour: 12.34, kilometersPerMinute: 0.2),
            is: ["flags": 0x0020, "instantaneous_speed": 12.34, "instantaneous_pace": 0.2]
        ),
        .sent(
            .treadmillData,
            TreadmillData(
                kilometersPerHour: 12.34,
                averageKilometersPerHour: 10,
                meters: 16_777_215,
                inclinationPercent: -1.5,
                rampDegrees: 2.5,
                metersUp: 6_553.5,
                metersDown: 0.1,
                newtons: -100,
                watts: 300,
                workout: workout
            ),
            is: fields([
                ("flags", 0x1F9E), ("instantaneous_speed", 12.34), ("average_speed", 10),
                ("total_distance", 16_777_215), ("inclination", -1.5), ("ramp_angle_setting", 2.5),
                ("positive_elevation_gain", 6_553.5), ("negative_elevation_gain", 0.1),
                ("force_on_belt", -100),
                ("power_output", 300),
            ])
        ),
    ]

    static let crossTrainer: [Sample] = [
        .sent(
            .crossTrainerData,
            CrossTrainerData(kilometersPerHour: 12.34, resistanceLevel: 7.5),
            is: ["flags": 0x000080, "instantaneous_speed": 12.34, "resistance_level": 7.5]
        ),
        .sent(
            .crossTrainerData,
            CrossTrainerData(
                kilometersPerHour: 12.34,
                averageKilometersPerHour: 10,
                meters: 16_777_215,
                stepsPerMinute: 120,
                averageStepsPerMinute: 110,
                strides: 6_553.5,
                metersUp: 65_535,
                metersDown: 1,
                inclinationPercent: -1.5,
                rampDegrees: 2.5,
                watts: 300,
                averageWatts: -32_768,
                workout: workout,
                isBackward: true
            ),
            is: fields([
                ("flags", 0xFF7E), ("instantaneous_speed", 12.34), ("average_speed", 10),
                ("total_distance", 16_777_215), ("steps_per_minute", 120), ("average_step_rate", 110),
                ("stride_count", 6_553.5), ("positive_elevation_gain", 65_535),
                ("negative_elevation_gain", 1),
                ("inclination", -1.5), ("ramp_setting", 2.5), ("instantaneous_power", 300),
                ("average_power", -32_768), ("movement_direction_backward", true),
            ])
        ),
    ]

    static let stepClimber: [Sample] = [
        .sent(
            .stepClimberData,
            StepClimberData(
                floors: 12,
                steps: 65_535,
                stepsPerMinute: 80,
                averageStepsPerMinute: 75,
                metersUp: 36,
                workout: workout
            ),
            is: fields([
                ("flags", 0x01FE), ("floors", 12), ("step_count", 65_535), ("steps_per_minute", 80),
                ("average_step_rate", 75), ("positive_elevation_gain", 36),
            ])
        )
    ]

    static let stairClimber: [Sample] = [
        .sent(
            .stairClimberData,
            StairClimberData(
                floors: 65_535,
                stepsPerMinute: 80,
                averageStepsPerMinute: 75,
                metersUp: 36,
                strides: 150,
                workout: workout
            ),
            is: fields([
                ("flags", 0x03FE), ("floors", 65_535), ("steps_per_minute", 80), ("average_step_rate", 75),
                ("positive_elevation_gain", 36), ("stride_count", 150),
            ])
        )
    ]

    static let rower: [Sample] = [
        .sent(
            .rowerData,
            RowerData(strokesPerMinute: 28.5, strokes: 300, resistanceLevel: 7),
            is: ["flags": 0x0080, "stroke_rate": 28.5, "stroke_count": 300, "resistance_level": 7]
        ),
        .sent(
            .rowerData,
            RowerData(
                strokesPerMinute: 28.5,
                strokes: 300,
                averageStrokesPerMinute: 127.5,
                meters: 2_000,
                secondsPer500Meters: 115,
                averageSecondsPer500Meters: 65_535,
                watts: 230,
                averageWatts: -1,
                workout: workout
            ),
            is: fields([
                ("flags", 0x1F7E), ("stroke_rate", 28.5), ("stroke_count", 300),
                ("average_stroke_rate", 127.5),
                ("total_distance", 2_000), ("instantaneous_pace", 115), ("average_pace", 65_535),
                ("instantaneous_power", 230), ("average_power", -1),
            ])
        ),
    ]

    private static func range(
        _ setting: FitnessMachineSetting,
        _ type: BluetoothUUID,
        _ numbers: [Double]
    ) -> Sample {
        let names = ["minimum", "maximum", "minimum_increment"]
        let fields = zip(names, numbers).map { (name: $0, field: Field.number($1)) }
        guard let range = SupportedRange(setting) else {
            preconditionFailure("give it a setting with a range")
        }
        return .sent(type, range, is: .structure(fields))
    }

    private static func request(
        _ request: FitnessMachineRequest,
        _ opCode: String,
        _ parameter: [UInt8]? = nil
    ) -> Sample {
        .written(
            .fitnessMachineControlPoint,
            request,
            is: [
                "op_code": .text(opCode), "parameter": parameter.map { .bytes($0) } ?? .absent,
            ]
        )
    }
}
