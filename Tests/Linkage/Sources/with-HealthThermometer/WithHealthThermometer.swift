import MinimalProgram
import PeripheralHealthThermometer
import PeripheralKit

@main
struct WithHealthThermometer {
    static func main() async throws {
        let thermometer = HealthThermometerService(
            type: .ear,
            hasIntermediateTemperature: true,
            interval: .settable(60, within: 1...3600) { _ in }
        )
        try await runMinimalProgram(with: [thermometer]) { session in
            let time = DateTime(year: 2026, month: 11, day: 22)
            let value = TemperatureMeasurement(celsius: 36.6, timestamp: time, type: .ear)
            if let intermediate = thermometer.intermediateTemperature {
                try await session.notify(intermediate, value)
            }
            try await thermometer.indicate(value, in: session)
            try await thermometer.updateInterval(to: 30, in: session)
        }
    }
}
