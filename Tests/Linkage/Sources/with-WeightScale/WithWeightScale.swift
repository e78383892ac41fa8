import MinimalProgram
import PeripheralKit
import PeripheralWeightScale

@main
struct WithWeightScale {
    static func main() async throws {
        let scale = WeightScaleService()
        try await runMinimalProgram(with: [scale]) { session in
            try await scale.indicate(WeightMeasurement(kilograms: 72.5), in: session)
        }
    }
}
