import MinimalProgram
import PeripheralCrossTrainer
import PeripheralFitnessMachine
import PeripheralKit

@main
struct WithCrossTrainer {
    static func main() async throws {
        let data = CrossTrainerData(
            kilometersPerHour: 12.5,
            stepsPerMinute: 120,
            watts: 150,
            workout: WorkoutData(kilocalories: 300, bpm: 141, elapsedSeconds: 3_600)
        )
        let control = FitnessMachineControl([.targetedTime]) { _, _ in }
        let trainer = FitnessMachineService(reporting: data, control: control)
        try await runMinimalProgram(with: [trainer.service]) { session in
            try await trainer.notify(data, in: session)
        }
    }
}
