import MinimalProgram
import PeripheralFitnessMachine
import PeripheralKit
import PeripheralStairClimber

@main
struct WithStairClimber {
    static func main() async throws {
        let workout = WorkoutData(kilocalories: 300, bpm: 141, elapsedSeconds: 3_600)
        let stairs = StairClimberData(floors: 12, stepsPerMinute: 80, workout: workout)
        let control = FitnessMachineControl([.targetResistanceLevel(0...10, step: 0.1)]) { request, _ in
            if case .startOrResume = request { throw FitnessMachineResult.operationFailed }
        }
        let climber = FitnessMachineService(
            reporting: stairs,
            trainingStatus: TrainingStatus(.idle),
            control: control
        )
        try await runMinimalProgram(with: [climber.service]) { session in
            try await climber.notify(stairs, in: session)
            try await climber.update(to: TrainingStatus(.warmingUp), in: session)
            try await climber.notify(.pausedByUser, in: session)
            try await climber.takeControl(in: session)
        }
    }
}
