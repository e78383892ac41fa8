import MinimalProgram
import PeripheralKit
import PeripheralWeightScale

@main
struct WithWeightScale {
    static func main() async throws {
        let scale = WeightScaleService(
            WeightScaleFeature(
                hasTimestamps: true,
                hasUsers: true,
                hasBuild: true,
                weightResolution: .kilograms0_1
            )
        )
        try await runMinimalProgram(with: [scale]) { session in
            let value = WeightMeasurement(
                kilograms: 72.5,
                timestamp: DateTime(year: 2026, month: 11, day: 22),
                userID: 1,
                build: .init(bodyMassIndex: 22.9, height: 1.78)
            )
            try await scale.indicate(value, in: session)
        }
    }
}
