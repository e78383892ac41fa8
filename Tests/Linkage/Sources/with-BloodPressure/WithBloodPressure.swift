import MinimalProgram
import PeripheralBloodPressure
import PeripheralKit

@main
struct WithBloodPressure {
    static func main() async throws {
        let service = BloodPressureService(detecting: .bodyMovement)
        try await runMinimalProgram(with: [service]) { session in
            let value = BloodPressureMeasurement(systolic: 120, diastolic: 80)
            try await session.indicate(service.measurement, value)
        }
    }
}
