import ArgumentParser
import ExampleSupport
import PeripheralKit

/// The command line of a heart rate sensor with a simulated heart.
@main
struct HeartRateSensor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "heart-rate-sensor",
        abstract: "Act as a Bluetooth LE heart rate sensor with a simulated heart.",
        discussion: """
            Any app for chest straps shows the heart rate. With --emulated, no Bluetooth is \
            needed: a virtual phone finds the sensor and plots the pulse in the terminal.
            """
    )

    @Option(help: "The name under which centrals find the sensor.")
    var name = "Pulse"

    @OptionGroup
    var options: RunOptions

    func run() async throws {
        let sensor = PulseSensor(name: name)
        if options.emulated != nil {
            try await runEmulated(sensor, options)
        } else {
            try await runOnBlueZ(sensor, options)
        }
    }
}

/// Serves the sensor to real centrals.
private func runOnBlueZ(_ sensor: PulseSensor, _ options: RunOptions) async throws {
    let place = options.adapter.map { " on \($0)" } ?? ""
    try await options.run(sensor.peripheral) { session in
        Terminal.print("\(sensor.peripheral.name) is advertising\(place); stop with Ctrl-C.")
        try await sensor.sendMeasurements(over: session) { measurement in
            Terminal.print(measurement.summary)
        }
    }
}
