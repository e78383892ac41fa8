import MinimalProgram
import PeripheralEnvironmentalSensing
import PeripheralKit

@main
struct WithEnvironmentalSensing {
    static func main() async throws {
        let inside = EnvironmentalSensor(
            .temperature,
            initially: 20,
            of: EnvironmentalMeasurement(
                period: 10,
                updateInterval: 10,
                application: .inside,
                uncertainty: 1
            ),
            triggers: [.every(seconds: 10), .less(than: 5), .changed],
            logic: .any,
            areTriggersSettable: true,
            name: "Inside",
            onRename: { _ in },
            range: -40...85,
            which: .inside,
            security: .open
        )
        let outside = EnvironmentalSensor(
            .humidity,
            of: EnvironmentalMeasurement(application: .outside),
            triggers: [.notEqual(to: 5)],
            name: "Outside",
            which: .outside
        )
        let weather = EnvironmentalSensingService([inside, outside])
        try await runMinimalProgram(with: [weather]) { session in
            try await weather.update(inside, to: 21.5, in: session)
            try await weather.update(outside, to: 21.5, in: session)
        }
    }
}
