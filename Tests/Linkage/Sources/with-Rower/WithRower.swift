import MinimalProgram
import PeripheralFitnessMachine
import PeripheralKit
import PeripheralRower

@main
struct WithRower {
    static func main() async throws {
        let data = RowerData(
            strokesPerMinute: 28,
            strokes: 300,
            watts: 230,
            workout: WorkoutData(kilocalories: 300, bpm: 141, elapsedSeconds: 3_600)
        )
        let control = FitnessMachineControl([.targetedTime]) { _, _ in }
        let rower = FitnessMachineService(reporting: data, control: control)
        try await runMinimalProgram(with: [rower.service]) { session in
            try await rower.notify(data, in: session)
        }
    }
}
