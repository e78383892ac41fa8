import MinimalProgram
import PeripheralCyclingSpeedAndCadence
import PeripheralKit

@main
struct WithCyclingSpeedAndCadence {
    static func main() async throws {
        let cycling = CyclingSpeedAndCadenceService(
            hasCrank: true,
            location: .movable(among: [.frontHub, .rearHub], current: { .rearHub }, move: { _ in }),
            onSetWheelRevolutions: { _ in }
        )
        try await runMinimalProgram(with: [cycling.service]) { session in
            let measurement = CSCMeasurement(
                wheel: WheelRevolutions(1, at: .seconds(1)),
                crank: CrankRevolutions(1, at: .seconds(1))
            )
            try await cycling.notify(measurement, in: session)
        }
    }
}
