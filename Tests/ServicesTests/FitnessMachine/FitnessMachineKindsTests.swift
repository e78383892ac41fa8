import PeripheralCrossTrainer
import PeripheralFitnessMachine
import PeripheralKit
import PeripheralRower
import PeripheralStairClimber
import PeripheralStepClimber
import PeripheralTesting
import PeripheralTreadmill
import TestSupport
import Testing

private let workout = WorkoutData(
    kilocalories: 300,
    kilocaloriesPerHour: 600,
    kilocaloriesPerMinute: 10,
    bpm: 141,
    metabolicEquivalent: 8.5,
    elapsedSeconds: 3_600,
    remainingSeconds: 600
)
private let workoutBytes: [UInt8] = [0x2C, 0x01, 0x58, 0x02, 0x0A, 0x8D, 0x55, 0x10, 0x0E, 0x58, 0x02]

@Suite(.timeLimit(.minutes(1)))
struct FitnessMachineKindsTests {
    /// Fitness Machine Service 1.0, section 4.4; a field of a pair that is not known is 0x7FFF.
    @Test(
        arguments: [
            (TreadmillData(kilometersPerHour: 12.34), [0x00, 0x00, 0xD2, 0x04]),
            (
                TreadmillData(
                    kilometersPerHour: 12.34,
                    averageKilometersPerHour: 10,
                    meters: 1_234_567,
                    inclinationPercent: -1.5,
                    rampDegrees: 2.5,
                    metersUp: 100.5,
                    metersDown: 0.1,
                    kilometersPerMinute: 0.2,
                    averageKilometersPerMinute: 25.5,
                    newtons: -100,
                    watts: 300,
                    workout: workout
                ),
                [
                    0xFE, 0x1F, 0xD2, 0x04, 0xE8, 0x03, 0x87, 0xD6, 0x12, 0xF1, 0xFF, 0x19, 0x00, 0xED, 0x03,
                    0x01, 0x00, 0x02, 0xFF,
                ] + workoutBytes + [0x9C, 0xFF, 0x2C, 0x01]
            ),
            (
                TreadmillData(kilometersPerHour: 0, inclinationPercent: 1, watts: 1),
                [0x08, 0x10, 0x00, 0x00, 0x0A, 0x00, 0xFF, 0x7F, 0xFF, 0x7F, 0x01, 0x00]
            ),
            (
                TreadmillData(kilometersPerHour: 0, rampDegrees: 1, newtons: 1),
                [0x08, 0x10, 0x00, 0x00, 0xFF, 0x7F, 0x0A, 0x00, 0x01, 0x00, 0xFF, 0x7F]
            ),
        ] as [(TreadmillData, [UInt8])]
    )
    func treadmillHasItsBytes(data: TreadmillData, bytes: [UInt8]) throws {
        #expect(data.gattBytes == bytes)
        #expect(try TreadmillData(gattBytes: bytes) == data)
    }

    @Test func aTreadmillTellsBothWaysOrNone() {
        let data = TreadmillData(kilometersPerHour: 0, metersDown: 1)
        #expect(data.gattBytes == [0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0A, 0x00])
        let most = TreadmillData(kilometersPerHour: 0, inclinationPercent: 5_000, rampDegrees: -5_000)
        #expect(most.gattBytes == [0x08, 0x00, 0x00, 0x00, 0xFE, 0x7F, 0x00, 0x80])
    }

    /// Section 4.5: three bytes of flags, the last of which are the direction and what is reserved.
    @Test(
        arguments: [
            (CrossTrainerData(kilometersPerHour: 12.34), [0x00, 0x00, 0x00, 0xD2, 0x04]),
            (
                CrossTrainerData(kilometersPerHour: 12.34, isBackward: true),
                [0x00, 0x80, 0x00, 0xD2, 0x04]
            ),
            (
                CrossTrainerData(
                    kilometersPerHour: 12.34,
                    averageKilometersPerHour: 10,
                    meters: 1_234_567,
                    stepsPerMinute: 120,
                    averageStepsPerMinute: 110,
                    strides: 1_000.5,
                    metersUp: 100,
                    metersDown: 1,
                    inclinationPercent: -1.5,
                    rampDegrees: 2.5,
                    resistanceLevel: -0.1,
                    watts: 300,
                    averageWatts: 250,
                    workout: workout
                ),
                [
                    0xFE, 0x7F, 0x00, 0xD2, 0x04, 0xE8, 0x03, 0x87, 0xD6, 0x12, 0x78, 0x00, 0x6E, 0x00, 0x15,
                    0x27, 0x64, 0x00, 0x01, 0x00, 0xF1, 0xFF, 0x19, 0x00, 0xFF, 0xFF, 0x2C, 0x01, 0xFA, 0x00,
                ] + workoutBytes
            ),
            (
                CrossTrainerData(kilometersPerHour: 0, stepsPerMinute: 65_534),
                [0x08, 0x00, 0x00, 0x00, 0x00, 0xFE, 0xFF, 0xFF, 0xFF]
            ),
            (
                CrossTrainerData(kilometersPerHour: 0, averageStepsPerMinute: 1),
                [0x08, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0x01, 0x00]
            ),
        ] as [(CrossTrainerData, [UInt8])]
    )
    func crossTrainerHasItsBytes(data: CrossTrainerData, bytes: [UInt8]) throws {
        #expect(data.gattBytes == bytes)
        #expect(try CrossTrainerData(gattBytes: bytes) == data)
    }

    /// The direction is in all parts.
    @Test func aCrossTrainerGoesBackwardInAllParts() {
        let data = CrossTrainerData(
            kilometersPerHour: 12.34,
            averageKilometersPerHour: 10,
            meters: 1,
            inclinationPercent: 1,
            rampDegrees: 1,
            watts: 300,
            workout: workout,
            isBackward: true
        )
        #expect(
            data.parts(upTo: 20).map(\.gattBytes) == [
                [
                    0x47, 0x8D, 0x00, 0xE8, 0x03, 0x01, 0x00, 0x00, 0x0A, 0x00, 0x0A, 0x00, 0x2C, 0x01, 0x2C,
                    0x01,
                    0x58, 0x02, 0x0A, 0x8D,
                ],
                [0x00, 0xF0, 0x00, 0xD2, 0x04, 0x55, 0x10, 0x0E, 0x58, 0x02],
            ]
        )
    }

    /// Section 4.6.
    @Test(
        arguments: [
            (StepClimberData(floors: 12, steps: 300), [0x00, 0x00, 0x0C, 0x00, 0x2C, 0x01]),
            (
                StepClimberData(
                    floors: 12,
                    steps: 300,
                    stepsPerMinute: 80,
                    averageStepsPerMinute: 75,
                    metersUp: 65_535,
                    workout: workout
                ),
                [0xFE, 0x01, 0x0C, 0x00, 0x2C, 0x01, 0x50, 0x00, 0x4B, 0x00, 0xFF, 0xFF] + workoutBytes
            ),
        ] as [(StepClimberData, [UInt8])]
    )
    func stepClimberHasItsBytes(data: StepClimberData, bytes: [UInt8]) throws {
        #expect(data.gattBytes == bytes)
        #expect(try StepClimberData(gattBytes: bytes) == data)
    }

    /// Section 4.7.
    @Test(
        arguments: [
            (StairClimberData(floors: 12), [0x00, 0x00, 0x0C, 0x00]),
            (
                StairClimberData(
                    floors: 12,
                    stepsPerMinute: 80,
                    averageStepsPerMinute: 75,
                    metersUp: 36,
                    strides: 150,
                    workout: workout
                ),
                [0xFE, 0x03, 0x0C, 0x00, 0x50, 0x00, 0x4B, 0x00, 0x24, 0x00, 0x96, 0x00] + workoutBytes
            ),
        ] as [(StairClimberData, [UInt8])]
    )
    func stairClimberHasItsBytes(data: StairClimberData, bytes: [UInt8]) throws {
        #expect(data.gattBytes == bytes)
        #expect(try StairClimberData(gattBytes: bytes) == data)
    }

    /// Section 4.8.
    @Test(
        arguments: [
            (RowerData(strokesPerMinute: 28.5, strokes: 300), [0x00, 0x00, 0x39, 0x2C, 0x01]),
            (
                RowerData(
                    strokesPerMinute: 28.5,
                    strokes: 300,
                    averageStrokesPerMinute: 127.5,
                    meters: 2_000,
                    secondsPer500Meters: 115,
                    averageSecondsPer500Meters: 120,
                    watts: 230,
                    averageWatts: -1,
                    resistanceLevel: 7,
                    workout: workout
                ),
                [
                    0xFE, 0x1F, 0x39, 0x2C, 0x01, 0xFF, 0xD0, 0x07, 0x00, 0x73, 0x00, 0x78, 0x00, 0xE6, 0x00,
                    0xFF,
                    0xFF, 0x07, 0x00,
                ] + workoutBytes
            ),
        ] as [(RowerData, [UInt8])]
    )
    func rowerHasItsBytes(data: RowerData, bytes: [UInt8]) throws {
        #expect(data.gattBytes == bytes)
        #expect(try RowerData(gattBytes: bytes) == data)
    }

    /// `==` compares what is written; this, what is read.
    @Test func eachKindReadsWhatIsThere() throws {
        let treadmill = try TreadmillData(gattBytes: [
            0x38, 0x10, 0xD2, 0x04, 0xF1, 0xFF, 0x19, 0x00, 0xED, 0x03, 0x01, 0x00, 0x02, 0x9C, 0xFF, 0xFF,
            0x7F,
        ])
        #expect(treadmill.kilometersPerHour == 12.34)
        #expect(treadmill.inclinationPercent == -1.5)
        #expect(treadmill.rampDegrees == 2.5)
        #expect(treadmill.metersUp == 100.5)
        #expect(treadmill.metersDown == 0.1)
        #expect(treadmill.kilometersPerMinute == 0.2)
        #expect(treadmill.averageKilometersPerMinute == nil)
        #expect(treadmill.newtons == -100)
        #expect(treadmill.watts == nil)
        let trainer = try CrossTrainerData(gattBytes: [
            0x18, 0x82, 0x00, 0xD2, 0x04, 0x78, 0x00, 0xFF, 0xFF, 0x15, 0x27, 0xFF, 0xFF,
        ])
        // Flag 9 is the average power.
        #expect(trainer.kilometersPerHour == 12.34)
        #expect(trainer.stepsPerMinute == 120)
        #expect(trainer.averageStepsPerMinute == nil)
        #expect(trainer.strides == 1_000.5)
        #expect(trainer.averageWatts == -1)
        #expect(trainer.isBackward)
        let steps = try StepClimberData(gattBytes: [
            0x0A, 0x00, 0x0C, 0x00, 0x2C, 0x01, 0x50, 0x00, 0xFF, 0xFF,
        ])
        #expect(steps.floors == 12)
        #expect(steps.steps == 300)
        #expect(steps.stepsPerMinute == 80)
        #expect(steps.averageStepsPerMinute == nil)
        #expect(steps.metersUp == 65_535)
        let stairs = try StairClimberData(gattBytes: [0x12, 0x00, 0x0C, 0x00, 0x50, 0x00, 0x96, 0x00])
        #expect(stairs.floors == 12)
        #expect(stairs.stepsPerMinute == 80)
        #expect(stairs.metersUp == nil)
        #expect(stairs.strides == 150)
        let rower = try RowerData(gattBytes: [
            0xA8, 0x00, 0x39, 0x2C, 0x01, 0x73, 0x00, 0xE6, 0x00, 0x07, 0x00,
        ])
        #expect(rower.strokesPerMinute == 28.5)
        #expect(rower.strokes == 300)
        #expect(rower.secondsPer500Meters == 115)
        #expect(rower.watts == 230)
        #expect(rower.resistanceLevel == 7)
    }

    /// Section 4.3.1.1 for the features, 3.1.2 for the types in advertisements.
    @Test func eachKindTellsWhatItIs() async throws {
        try await expect(
            FitnessMachineService(
                reporting: TreadmillData(
                    kilometersPerHour: 0,
                    averageKilometersPerHour: 0,
                    meters: 0,
                    rampDegrees: 0,
                    metersUp: 0,
                    averageKilometersPerMinute: 0,
                    newtons: 0,
                    workout: workout
                )
            ),
            type: 0x2ACD,
            feature: [0x3D, 0xBE],
            bit: 0x01
        )
        try await expect(
            FitnessMachineService(
                reporting: CrossTrainerData(
                    kilometersPerHour: 0,
                    stepsPerMinute: 0,
                    strides: 0,
                    metersDown: 0,
                    inclinationPercent: 0,
                    resistanceLevel: 0,
                    watts: 0
                )
            ),
            type: 0x2ACE,
            feature: [0xD8, 0x41],
            bit: 0x02
        )
        let steps = StepClimberData(floors: 0, steps: 0, averageStepsPerMinute: 0, metersUp: 0)
        try await expect(
            FitnessMachineService(reporting: steps),
            type: 0x2ACF,
            feature: [0x50, 0x00],
            bit: 0x04
        )
        let stairs = StairClimberData(floors: 0, stepsPerMinute: 0, strides: 0)
        try await expect(
            FitnessMachineService(reporting: stairs),
            type: 0x2AD0,
            feature: [0x40, 0x01],
            bit: 0x08
        )
        let rower = RowerData(
            strokesPerMinute: 0,
            strokes: 0,
            averageStrokesPerMinute: 0,
            meters: 0,
            secondsPer500Meters: 0,
            averageWatts: 0,
            resistanceLevel: 0
        )
        try await expect(
            FitnessMachineService(reporting: rower),
            type: 0x2AD1,
            feature: [0xA6, 0x40],
            bit: 0x10
        )
    }

    private func expect<Data>(
        _ machine: FitnessMachineService<Data>,
        type: BluetoothUUID,
        feature: [UInt8],
        bit: UInt8,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        #expect(machine.data.uuid == type, sourceLocation: sourceLocation)
        #expect(machine.advertisedData() == [0x01, bit, 0x00], sourceLocation: sourceLocation)
        let read = try await Peripheral("Machine") { machine }.test { central in
            try await central.read(machine.feature)
        }
        #expect(read.gattBytes == feature + [0, 0, 0, 0, 0, 0], sourceLocation: sourceLocation)
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func decodersEndWhateverTheyRead(seed: UInt64) throws {
        try fuzz(TreadmillData.self, seed: seed, count: 0...36)
        try fuzz(CrossTrainerData.self, seed: seed, count: 0...44)
        try fuzz(StepClimberData.self, seed: seed, count: 0...24)
        try fuzz(StairClimberData.self, seed: seed, count: 0...24)
        try fuzz(RowerData.self, seed: seed, count: 0...32)
    }
}
