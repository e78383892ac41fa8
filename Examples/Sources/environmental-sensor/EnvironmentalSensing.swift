import ArgumentParser
import ExampleSupport

/// What this device measures of its surroundings, for phones: the command line.
@main
struct EnvironmentalSensing: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "environmental-sensor",
        abstract: "Tell centrals what this device measures of its surroundings.",
        discussion: """
            Temperature, humidity and pressure are those of the kernel's sensors (Industrial I/O and hwmon). A device without \
            any gets simulated ones.
            """
    )

    @Option(help: "The name under which centrals find the device.")
    var name = "Weather"

    @OptionGroup
    var options: RunOptions

    func run() async throws {
        let station = Station()
        Terminal.print("These are \(station.source).")
        let weather = WeatherPeripheral(station, name: name)
        try await options.run(weather.peripheral) { session in
            try await weather.serve(session)
        } emulated: { phone in
            try await weather.show(phone)
        }
    }
}
