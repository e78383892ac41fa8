import MinimalProgram
import PeripheralBloodPressure
import PeripheralKit

@main
struct WithBloodPressure {
    static func main() async throws {
        let service = BloodPressureService(
            detecting: .bodyMovement,
            hasIntermediateCuffPressure: true,
            supportsMultipleBonds: true
        )
        try await runMinimalProgram(with: [service]) { session in
            let time = DateTime(year: 2026, month: 11, day: 22)
            if let intermediate = service.intermediateCuffPressure {
                try await session.notify(intermediate, IntermediateCuffPressure(150, timestamp: time))
            }
            let value = BloodPressureMeasurement(
                systolic: 120,
                diastolic: 80,
                timestamp: time,
                pulseRate: 60,
                userID: 1,
                status: .bodyMovement
            )
            try await service.indicate(value, in: session)
        }
    }
}
