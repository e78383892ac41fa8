import MinimalProgram
import PeripheralEnvironmentalSensing
import PeripheralKit

@main
struct WithEnvironmentalSensing {
    static func main() async throws {
        let temperature = EnvironmentalSensor(.temperature)
        let weather = EnvironmentalSensingService([temperature])
        try await runMinimalProgram(with: [weather]) { session in
            try await weather.update(temperature, to: 21.5, in: session)
        }
    }
}
