import MinimalProgram
import PeripheralFitnessMachine
import PeripheralKit

@main
struct WithFitnessMachine {
    static func main() async throws {
        let ride = IndoorBikeData(
            kilometersPerHour: 31.5,
            rpm: 90,
            watts: 215,
            workout: WorkoutData(kilocalories: 300, bpm: 141, elapsedSeconds: 3_600)
        )
        let control = FitnessMachineControl([
            .targetSpeed(kilometersPerHour: 0...60, step: 0.1),
            .targetInclination(percent: -10...20, step: 0.5),
            .targetResistanceLevel(0...10, step: 0.1), .targetPower(watts: 0...400),
            .targetHeartRate(bpm: 60...180),
            .targetedEnergy, .bikeSimulation, .spinDown(SpinDownSpeeds(low: 8, high: 24)), .targetedCadence,
        ]) { request in
            if case .startOrResume = request { throw FitnessMachineResult.operationFailed }
        }
        let bike = FitnessMachineService(
            telling: ride,
            trainingStatus: TrainingStatus(.idle),
            control: control
        )
        try await runMinimalProgram(with: [bike.service]) { session in
            try await bike.send(ride, in: session)
            try await bike.update(to: TrainingStatus(.warmingUp, text: "Hills"), in: session)
            try await bike.tell(.pausedByUser, in: session)
            try await bike.takeControl(in: session)
        }
    }
}
