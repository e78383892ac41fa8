import ArgumentParser
import ExampleSupport
import Logging
import PeripheralBlueZ

/// The command line of a heart rate sensor with a simulated heart.
@main
struct HeartRateSensor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "heart-rate-sensor",
        abstract: "Be a Bluetooth LE heart rate sensor with a simulated heart.",
        discussion: """
            Any app for chest straps shows the heart rate. With --emulated, no Bluetooth is \
            needed: a virtual central finds the sensor and plots the pulse in the terminal.
            """
    )

    @Option(help: "The name under which centrals find the sensor.")
    var name = "Pulse"

    @OptionGroup
    var options: RunOptions

    func run() async throws {
        let sensor = PulseSensor(name: name)
        try await withStopRequest(after: options.duration?.duration) {
            [adapter = options.adapter, emulated = options.emulated] stop in
            if emulated {
                try await runEmulated(sensor, until: stop)
            } else {
                try await runOnBlueZ(sensor, adapter: adapter, until: stop)
            }
        }
    }
}

/// Serves the sensor to real centrals.
private func runOnBlueZ(_ sensor: PulseSensor, adapter: String?, until stop: StopRequest) async throws {
    // Only measurements go to the terminal. An error that ends the run is printed at the end.
    var logger = Logger(label: "heart-rate-sensor")
    logger.logLevel = .error
    let backend = BlueZBackend(
        adapter: adapter.map { .named($0) } ?? .firstPowered,
        recovery: .afterPublication,
        logger: logger
    )
    try await sensor.peripheral.run(on: backend, logger: logger) { session in
        let place = adapter.map { " on \($0)" } ?? ""
        Terminal.print("\(sensor.peripheral.name) is advertising\(place); stop with Ctrl-C.")
        try await stop.ends {
            try await sensor.sendMeasurements(over: session) { measurement in
                Terminal.print(measurement.summary)
            }
        }
    }
}
