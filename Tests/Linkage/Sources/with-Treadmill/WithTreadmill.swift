import MinimalProgram
import PeripheralFitnessMachine
import PeripheralKit
import PeripheralTreadmill

@main
struct WithTreadmill {
    static func main() async throws {
        let data = TreadmillData(
            kilometersPerHour: 12.5,
            meters: 1_000,
            inclinationPercent: 1.5,
            workout: WorkoutData(kilocalories: 300, bpm: 141, elapsedSeconds: 3_600)
        )
        let control = FitnessMachineControl([.targetedTime]) { _, _ in }
        let treadmill = FitnessMachineService(reporting: data, control: control)
        try await runMinimalProgram(with: [treadmill.service]) { session in
            try await treadmill.notify(data, in: session)
        }
    }
}
