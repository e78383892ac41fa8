import MinimalProgram
import PeripheralClimbers
import PeripheralFitnessMachine
import PeripheralKit

@main
struct WithClimbers {
    static func main() async throws {
        let workout = WorkoutData(kilocalories: 300, bpm: 141, elapsedSeconds: 3_600)
        let steps = StepClimberData(floors: 12, steps: 300, stepsPerMinute: 80, workout: workout)
        let stairs = StairClimberData(floors: 12, stepsPerMinute: 80, workout: workout)
        let stepClimber = FitnessMachineService(telling: steps)
        let stairClimber = FitnessMachineService(telling: stairs)
        try await runMinimalProgram(with: [stepClimber.service, stairClimber.service]) { session in
            try await stepClimber.send(steps, in: session)
            try await stairClimber.send(stairs, in: session)
        }
    }
}
