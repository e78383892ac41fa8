import MinimalProgram
import PeripheralBodyComposition
import PeripheralKit

@main
struct WithBodyComposition {
    static func main() async throws {
        let composition = BodyCompositionService()
        try await runMinimalProgram(with: [composition]) { session in
            try await composition.indicate(BodyCompositionMeasurement(bodyFat: 21.4), in: session)
        }
    }
}
