import ArgumentParser
import ExampleSupport

/// The command line of an environmental sensor with the sensors of this device.
@main
struct EnvironmentalSensing: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "environmental-sensor",
        abstract: "Act as an environmental sensor with the sensors of this device.",
        discussion: """
            Temperature, humidity and pressure come from the kernel's sensors (Industrial I/O and hwmon). A device without \
            them uses simulated sensors.
            """
    )

    @Option(help: "The name under which centrals find the device.")
    var name = "Weather"

    @OptionGroup
    var options: RunOptions

    func run() async throws {
        let station = Station()
        Terminal.print(station.source)
        let weather = WeatherPeripheral(station, name: name)
        try await options.run(weather.peripheral) { session in
            try await weather.serve(session)
        } emulated: { phone in
            try await weather.show(phone)
        }
    }
}
