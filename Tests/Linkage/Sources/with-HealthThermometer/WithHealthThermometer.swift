import MinimalProgram
import PeripheralHealthThermometer
import PeripheralKit

@main
struct WithHealthThermometer {
    static func main() async throws {
        let thermometer = HealthThermometerService(type: .ear, interval: .fixed(60))
        try await runMinimalProgram(with: [thermometer]) { session in
            try await session.indicate(thermometer.measurement, TemperatureMeasurement(celsius: 36.6))
        }
    }
}
