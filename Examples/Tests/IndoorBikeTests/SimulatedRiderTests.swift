import PeripheralFitnessMachine
import PeripheralIndoorBike
import PeripheralKit
import PeripheralTesting
import Testing

@testable import indoor_bike

@Suite(.timeLimit(.minutes(1)))
struct SimulatedRiderTests {
    private static func ride(_ rider: inout SimulatedRider, for seconds: Int) -> IndoorBikeData {
        for _ in 0..<seconds { rider.ride(for: 1) }
        return rider.measurement
    }

    @Test func thePowerFollowsTheTarget() {
        var rider = SimulatedRider()
        #expect(Self.ride(&rider, for: 60).watts == 150)
        rider.setting = .power(watts: 250)
        let first = Self.ride(&rider, for: 1).watts ?? 0
        #expect((151..<250).contains(first))
        let ride = Self.ride(&rider, for: 60)
        #expect(ride.watts == 250)
        #expect(ride.rpm == 82.5)
        rider.setting = .power(watts: 0)
        #expect(Self.ride(&rider, for: 60).watts == 0)
        #expect(rider.measurement.rpm == 0)
    }

    @Test func aHillTakesMorePowerAndSpeed() {
        var rider = SimulatedRider()
        rider.setting = .road(BikeSimulation(gradePercent: 0))
        let flat = Self.ride(&rider, for: 120)
        rider.setting = .road(BikeSimulation(gradePercent: 3))
        let hill = Self.ride(&rider, for: 120)
        #expect((hill.watts ?? 0) > (flat.watts ?? 0))
        rider.setting = .road(BikeSimulation(gradePercent: 12))
        let steep = Self.ride(&rider, for: 120)
        // This is the rider's maximum.
        #expect(steep.watts == 350)
        #expect((steep.kilometersPerHour ?? 0) < 15)
        rider.setting = .road(BikeSimulation(gradePercent: -12))
        let descent = Self.ride(&rider, for: 120)
        #expect(descent.watts == 0)
        #expect((descent.kilometersPerHour ?? 0) > 40)
    }

    /// The expected power at 8 m/s: 8 × (833.85 × 0.024 + 0.51 × 64) W, at a grade of 2 %.
    @Test func powerAndSpeedGoTogether() {
        let road = BikeSimulation(gradePercent: 2)
        let watts = SimulatedRider.watts(at: 8, on: road)
        #expect(abs(watts - 421.2) < 0.1)
        #expect(abs(SimulatedRider.speed(at: watts, on: road) - 8) < 0.001)
    }

    @Test func countsWhileTheTrainingRuns() {
        var rider = SimulatedRider()
        #expect(Self.ride(&rider, for: 100).meters == 0)
        #expect(rider.trainingStatus == TrainingStatus(.idle))
        // Each call returns whether it has changed anything.
        let changes = [rider.pause(), rider.start(), rider.start()]
        #expect(changes == [false, true, false])
        let ride = Self.ride(&rider, for: 100)
        #expect(ride.workout.elapsedSeconds == 100)
        #expect(ride.workout.kilocalories == 15)
        #expect((500...900).contains(ride.meters ?? 0))
        #expect((115...125).contains(ride.workout.bpm ?? 0))
        #expect(rider.trainingStatus == TrainingStatus(.manualMode))
        let rests = [rider.pause(), rider.pause()]
        #expect(rests == [true, false])
        let rest = Self.ride(&rider, for: 100)
        #expect(rest.watts == 0)
        #expect((rest.kilometersPerHour ?? 1) < 0.01)
        #expect(rest.meters == ride.meters)
        #expect(rest.workout.elapsedSeconds == 100)
        #expect((rest.workout.bpm ?? 0) < (ride.workout.bpm ?? 0))
        #expect(rider.trainingStatus == TrainingStatus(.idle))
    }

    @Test func aTrainingThatWasStoppedIsOver() {
        var rider = SimulatedRider()
        let changes = [
            rider.stop(), rider.start(), rider.pause(), rider.stop(), rider.stop(), rider.pause(),
        ]
        #expect(changes == [false, true, true, true, false, false])
        #expect(rider.trainingStatus == TrainingStatus(.idle))
        // The results of a training stay visible until the next one.
        _ = rider.start()
        #expect(Self.ride(&rider, for: 10).workout.elapsedSeconds == 10)
        _ = rider.stop()
        #expect(Self.ride(&rider, for: 10).workout.elapsedSeconds == 10)
        _ = rider.start()
        #expect(rider.measurement.workout.elapsedSeconds == 0)
    }

    @Test func theBikeIsIdleAfterAReset() async throws {
        let bike = Bike(name: "Bike")
        try await bike.peripheral.test { phone, session in
            let controlPoint = try #require(bike.service.controlPoint)
            let trainingStatus = try #require(bike.service.trainingStatus)
            try await phone.subscribe(to: controlPoint)
            try await phone.subscribe(to: bike.service.data)
            for request in [.requestControl, .startOrResume, .reset] as [FitnessMachineRequest] {
                #expect(try await phone.request(request, of: controlPoint).result == .success)
            }
            try await withThrowingTaskGroup { group in
                group.addTask { try await bike.ride(aSecondIn: .zero, over: session) }
                // The status of the first second is set before the second measurement.
                for _ in 0..<2 { _ = try await phone.nextUpdate(of: bike.service.data) }
                #expect(try await phone.read(trainingStatus).phase == .idle)
                group.cancelAll()
                try? await group.waitForAll()
            }
        }
    }

    @Test func theBikeTellsWhatItCan() async throws {
        let bike = Bike(name: "Bike")
        try await bike.peripheral.test { phone in
            let feature = try await phone.read(bike.service.feature)
            #expect(
                feature
                    == FitnessMachineFeature([
                        .cadence, .totalDistance, .expendedEnergy, .heartRate, .elapsedTime, .power,
                        .powerTarget,
                        .bikeSimulation,
                    ])
            )
            let controlPoint = try #require(bike.service.controlPoint)
            try await phone.subscribe(to: controlPoint)
            for (request, result) in [
                (.requestControl, .success), (.pause, .operationFailed), (.startOrResume, .success),
                (.startOrResume, .operationFailed), (.pause, .success), (.stop, .success),
                (.stop, .operationFailed), (.startOrResume, .success), (.stop, .success),
                (.pause, .operationFailed), (.targetPower(watts: 401), .invalidParameter),
                (.targetPower(watts: 400), .success), (.targetedCadence(rpm: 90), .opCodeNotSupported),
                (.reset, .success),
            ] as [(FitnessMachineRequest, FitnessMachineResult)] {
                #expect(try await phone.request(request, of: controlPoint).result == result)
            }
        }
    }
}
