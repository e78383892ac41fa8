import MinimalProgram
import PeripheralBodyComposition
import PeripheralKit

@main
struct WithBodyComposition {
    static func main() async throws {
        let composition = BodyCompositionService(
            BodyCompositionFeature(
                [.timestamp, .userID, .basalMetabolism, .muscle, .impedance, .weight, .height],
                massResolution: .kilograms0_1
            )
        )
        try await runMinimalProgram(with: [composition]) { session in
            let value = BodyCompositionMeasurement(
                bodyFat: 21.4,
                timestamp: DateTime(year: 2026, month: 11, day: 22),
                userID: 2,
                basalMetabolism: 7000,
                muscle: 40.1,
                impedance: 512.3,
                weight: 72.5,
                height: 1.78
            )
            try await composition.indicate(value, in: session)
        }
    }
}
