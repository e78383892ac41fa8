import PeripheralFitnessMachine
import PeripheralIndoorBike
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// All values that an indoor bike can report.
private let fullRide = IndoorBikeData(
    kilometersPerHour: 31.5,
    averageKilometersPerHour: 30.25,
    rpm: 90,
    averageRPM: 88.5,
    meters: 1_234_567,
    resistanceLevel: -2,
    watts: 215,
    averageWatts: -1,
    workout: WorkoutData(
        kilocalories: 300,
        kilocaloriesPerHour: 600,
        kilocaloriesPerMinute: 10,
        bpm: 141,
        metabolicEquivalent: 8.5,
        elapsedSeconds: 3_600,
        remainingSeconds: 600
    )
)

@Suite(.timeLimit(.minutes(1)))
struct FitnessMachineDataTests {
    /// Fitness Machine Service 1.0, section 4.9: flags, speed, and then the fields in the order of the flags.
    @Test(
        arguments: [
            (IndoorBikeData(kilometersPerHour: 31.5), [0x00, 0x00, 0x4E, 0x0C]),
            (
                fullRide,
                [
                    0xFE, 0x1F, 0x4E, 0x0C, 0xD1, 0x0B, 0xB4, 0x00, 0xB1, 0x00, 0x87, 0xD6, 0x12, 0xFE, 0xFF,
                    0xD7,
                    0x00, 0xFF, 0xFF, 0x2C, 0x01, 0x58, 0x02, 0x0A, 0x8D, 0x55, 0x10, 0x0E, 0x58, 0x02,
                ]
            ),
            // What is not known of the energy is all ones.
            (
                IndoorBikeData(kilometersPerHour: 0, workout: WorkoutData(kilocalories: 5)),
                [0x00, 0x01, 0x00, 0x00, 0x05, 0x00, 0xFF, 0xFF, 0xFF]
            ),
            (
                IndoorBikeData(kilometersPerHour: 0, rpm: 90.5, watts: 300),
                [0x44, 0x00, 0x00, 0x00, 0xB5, 0x00, 0x2C, 0x01]
            ),
        ] as [(IndoorBikeData, [UInt8])]
    )
    func indoorBikeHasItsBytes(data: IndoorBikeData, bytes: [UInt8]) throws {
        #expect(data.gattBytes == bytes)
        #expect(try IndoorBikeData(gattBytes: bytes) == data)
    }

    /// `==` compares what is written; this, what is read.
    @Test func readsWhatIsThere() throws {
        let ride = try IndoorBikeData(gattBytes: [
            0xFE, 0x1F, 0x4E, 0x0C, 0xD1, 0x0B, 0xB4, 0x00, 0xB1, 0x00, 0x87, 0xD6, 0x12, 0xFE, 0xFF, 0xD7,
            0x00, 0xFF, 0xFF, 0x2C, 0x01, 0x58, 0x02, 0x0A, 0x8D, 0x55, 0x10, 0x0E, 0x58, 0x02,
        ])
        #expect(ride.kilometersPerHour == 31.5)
        #expect(ride.averageKilometersPerHour == 30.25)
        #expect(ride.rpm == 90)
        #expect(ride.averageRPM == 88.5)
        #expect(ride.meters == 1_234_567)
        #expect(ride.resistanceLevel == -2)
        #expect(ride.watts == 215)
        #expect(ride.averageWatts == -1)
        #expect(ride.workout.kilocalories == 300)
        #expect(ride.workout.kilocaloriesPerHour == 600)
        #expect(ride.workout.kilocaloriesPerMinute == 10)
        #expect(ride.workout.bpm == 141)
        #expect(ride.workout.metabolicEquivalent == 8.5)
        #expect(ride.workout.elapsedSeconds == 3_600)
        #expect(ride.workout.remainingSeconds == 600)
    }

    @Test(
        arguments: [
            (IndoorBikeData(kilometersPerHour: 1_000), [0x00, 0x00, 0xFF, 0xFF]),
            (IndoorBikeData(kilometersPerHour: -1), [0x00, 0x00, 0x00, 0x00]),
            (IndoorBikeData(kilometersPerHour: .nan), [0x00, 0x00, 0x00, 0x00]),
            (IndoorBikeData(kilometersPerHour: .infinity), [0x00, 0x00, 0xFF, 0xFF]),
            (IndoorBikeData(kilometersPerHour: 0, watts: 40_000), [0x40, 0x00, 0x00, 0x00, 0xFF, 0x7F]),
            (IndoorBikeData(kilometersPerHour: 0, watts: .min), [0x40, 0x00, 0x00, 0x00, 0x00, 0x80]),
            (IndoorBikeData(kilometersPerHour: 0, meters: .max), [0x10, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF]),
            // The largest number says that the energy is not known.
            (
                IndoorBikeData(
                    kilometersPerHour: 0,
                    workout: WorkoutData(kilocalories: 70_000, kilocaloriesPerMinute: 255)
                ),
                [0x00, 0x01, 0x00, 0x00, 0xFE, 0xFF, 0xFF, 0xFF, 0xFE]
            ),
        ] as [(IndoorBikeData, [UInt8])]
    )
    func clampsWhatCannotBe(data: IndoorBikeData, bytes: [UInt8]) {
        #expect(data.gattBytes == bytes)
    }

    /// Section 4.19: all but the last say that there is more, and the speed is in the last.
    @Test func splitsWhatDoesNotFit() {
        #expect(
            fullRide.parts(upTo: 20).map(\.gattBytes) == [
                [
                    0xFF, 0x00, 0xD1, 0x0B, 0xB4, 0x00, 0xB1, 0x00, 0x87, 0xD6, 0x12, 0xFE, 0xFF, 0xD7, 0x00,
                    0xFF,
                    0xFF,
                ],
                [0x00, 0x1F, 0x4E, 0x0C, 0x2C, 0x01, 0x58, 0x02, 0x0A, 0x8D, 0x55, 0x10, 0x0E, 0x58, 0x02],
            ]
        )
        #expect(fullRide.parts(upTo: 29).count == 2)
        #expect(fullRide.parts(upTo: 30) == [fullRide])
        #expect(fullRide.parts(upTo: 0) == fullRide.parts(upTo: 20))
        let short = IndoorBikeData(kilometersPerHour: 31.5, rpm: 90)
        #expect(short.parts(upTo: 20) == [short])
    }

    @Test func readsAPart() throws {
        let part = try IndoorBikeData(gattBytes: [0x05, 0x00, 0xB4, 0x00])
        #expect(part.kilometersPerHour == nil)
        #expect(part.rpm == 90)
        #expect(throws: GATTDecodingError.self) { try IndoorBikeData(gattBytes: [0x00]) }
        #expect(throws: GATTDecodingError.self) { try IndoorBikeData(gattBytes: [0x00, 0x00, 0x01]) }
        #expect(throws: GATTDecodingError.self) {
            try IndoorBikeData(gattBytes: [0x05, 0x00, 0xB4, 0x00, 0x00])
        }
        // The flags from 13 on are reserved.
        let later = try IndoorBikeData(gattBytes: [0x00, 0xE0, 0x00, 0x00])
        #expect(later == IndoorBikeData(kilometersPerHour: 0))
    }

    @Test func arrivesInAsManyNotificationsAsItTakes() async throws {
        let bike = FitnessMachineService(reporting: fullRide)
        try await Peripheral("Bike") { bike }.test(mtu: 23) { central, session in
            // No central has subscribed yet.
            try await bike.notify(fullRide, in: session)
            try await central.subscribe(to: bike.data)
            try await bike.notify(fullRide, in: session)
            #expect(try await central.nextUpdate(of: bike.data) == fullRide.parts(upTo: 20)[0])
            #expect(try await central.nextUpdate(of: bike.data) == fullRide.parts(upTo: 20)[1])
        }
        try await Peripheral("Bike") { bike }.test(mtu: 33) { central, session in
            try await central.subscribe(to: bike.data)
            try await bike.notify(fullRide, in: session)
            #expect(try await central.nextUpdate(of: bike.data) == fullRide)
        }
    }

    /// Section 4.3.1.1: the machine sends only values that its features announce.
    ///
    /// These features include neither the average speed nor the heart rate.
    @Test func whatTheFeaturesDoNotTellOfIsLeftOut() async throws {
        let bike = FitnessMachineService(reporting: IndoorBikeData(kilometersPerHour: 0, rpm: 0))
        try await Peripheral("Bike") { bike }.test { central, session in
            try await central.subscribe(to: bike.data)
            let ride = IndoorBikeData(
                kilometersPerHour: 31.5,
                averageKilometersPerHour: 30,
                rpm: 90,
                workout: WorkoutData(bpm: 141)
            )
            try await bike.notify(ride, in: session)
            #expect(
                try await central.nextUpdate(of: bike.data).gattBytes == [0x04, 0x00, 0x4E, 0x0C, 0xB4, 0x00]
            )
        }
    }

    /// Section 4.10.
    @Test(
        arguments: [
            (TrainingStatus(.idle), [0x00, 0x01]),
            (TrainingStatus(.postWorkout, text: ""), [0x01, 0x0F]),
            (TrainingStatus(.coolDown, text: "5 ′"), [0x01, 0x0B, 0x35, 0x20, 0xE2, 0x80, 0xB2]),
            (TrainingStatus(TrainingStatus.Phase(rawValue: 0x10)), [0x00, 0x10]),
        ] as [(TrainingStatus, [UInt8])]
    )
    func trainingStatusHasItsBytes(status: TrainingStatus, bytes: [UInt8]) throws {
        #expect(status.gattBytes == bytes)
        #expect(try TrainingStatus(gattBytes: bytes) == status)
    }

    @Test func trainingStatusIsReadAsAWholeWhateverWasNotified() async throws {
        let bike = FitnessMachineService(reporting: fullRide, trainingStatus: TrainingStatus(.idle))
        let trainingStatus = try #require(bike.trainingStatus)
        try await Peripheral("Bike") { bike }.test(mtu: 23) { central, session in
            #expect(try await central.read(trainingStatus) == TrainingStatus(.idle))
            try await central.subscribe(to: trainingStatus)
            try await bike.update(to: TrainingStatus(.idle), in: session)
            try await bike.update(
                to: TrainingStatus(.warmingUp, text: "Ten minutes, 150 W, 90 rpm"),
                in: session
            )
            let notified = try await central.nextUpdate(of: trainingStatus)
            #expect(notified.text == "Ten minutes, 150 W")
            #expect(notified.isExtended)
            let read = try await central.read(trainingStatus)
            #expect(read.text == "Ten minutes, 150 W, 90 rpm")
            #expect(read.isExtended)
            #expect(read.phase == .warmingUp)
            try await bike.update(to: TrainingStatus(.idle, text: "Eighteen bytes, no"), in: session)
            #expect(
                try await central.nextUpdate(of: trainingStatus)
                    == TrainingStatus(.idle, text: "Eighteen bytes, no")
            )
        }
        #expect(TrainingStatus(.other, text: String(repeating: "′", count: 200)).text?.utf8.count == 510)
    }

    /// Sections 4.3.1.1 and 4.3.1.2: the bits of both tables in their order.
    @Test func featuresHaveTheirBits() throws {
        let machine: [FitnessMachineFeature] = [
            .averageSpeed, .cadence, .totalDistance, .inclination, .elevationGain, .pace, .stepCount,
            .resistanceLevel, .strideCount, .expendedEnergy, .heartRate, .metabolicEquivalent, .elapsedTime,
            .remainingTime, .power, .forceOnBeltAndPowerOutput, .userDataRetention,
        ]
        let targetSettings: [FitnessMachineFeature] = [
            .speedTarget, .inclinationTarget, .resistanceTarget, .powerTarget, .heartRateTarget,
            .targetedExpendedEnergy, .targetedStepNumber, .targetedStrideNumber, .targetedDistance,
            .targetedTrainingTime, .targetedTimeInTwoHeartRateZones, .targetedTimeInThreeHeartRateZones,
            .targetedTimeInFiveHeartRateZones, .bikeSimulation, .wheelCircumference, .spinDown,
            .targetedCadence,
        ]
        #expect(machine.count == 17 && targetSettings.count == 17)
        for (half, features) in [machine, targetSettings].enumerated() {
            for (bit, feature) in features.enumerated() {
                var bytes: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0]
                bytes[half * 4 + bit / 8] = 1 << (bit % 8)
                #expect(feature.gattBytes == bytes)
                #expect(try FitnessMachineFeature(gattBytes: bytes) == feature)
                #expect(FitnessMachineFeature(rawValue: 1 << (half * 32 + bit)) == feature)
            }
        }
        let both = FitnessMachineFeature([.cadence, .power, .powerTarget])
        #expect(both.gattBytes == [0x02, 0x40, 0, 0, 0x08, 0, 0, 0])
        #expect(both.contains(.power) && both.contains(.powerTarget) && !both.contains(.pace))
        #expect(!both.contains(FitnessMachineFeature([.power, .pace])))
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func decodersEndWhateverTheyRead(seed: UInt64) throws {
        try fuzz(IndoorBikeData.self, seed: seed, count: 0...32)
        try fuzz(TrainingStatus.self, seed: seed, count: 0...24)
        try fuzz(FitnessMachineFeature.self, seed: seed, count: 7...9)
        try fuzz(FitnessMachineRequest.self, seed: seed, count: 0...12)
        try fuzz(FitnessMachineResponse.self, seed: seed, count: 0...8)
        try fuzz(FitnessMachineStatus.self, seed: seed, count: 0...12)
        try fuzz(SupportedRange.self, seed: seed, count: 2...7)
    }
}
