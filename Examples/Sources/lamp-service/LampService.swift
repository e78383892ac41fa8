import ArgumentParser
import ExampleSupport
import Logging
import PeripheralBlueZ
import PeripheralKit
import PeripheralServiceLifecycle
import ServiceLifecycle

/// A lamp that shuts down gracefully on SIGTERM, for example from systemd.
@main
struct LampService: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lamp-service",
        abstract: "Act as a lamp that runs as a service of swift-service-lifecycle."
    )

    @Option(help: "The name under which centrals find the lamp.")
    var name = "Lamp"

    @OptionGroup
    var options: RunOptions

    func run() async throws {
        let power = Characteristic<Bool>("5c3a0002-7e3c-4b6e-9d29-b3f1c0a1d001", value: true)
        let peripheral = Peripheral(name) {
            GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001") { power }
        }
        if options.emulated != nil {
            try await options.withEmulatedBluetooth { bluez in
                try await serve(peripheral, on: bluez.backend)
                let isAdvertising = !bluez.central(for: peripheral).scan().isEmpty
                Terminal.print(
                    "The advertisement and the services are \(isAdvertising ? "still there" : "withdrawn")."
                )
            }
        } else {
            try await options.withNextSteps { try await serve(peripheral, on: options.bluez) }
        }
    }

    /// Serves the lamp as the only service of the program, until a signal arrives or the time is up.
    private func serve(_ peripheral: Peripheral, on backend: some PeripheralBackend) async throws {
        // The terminal belongs to the example.
        var logger = Logger(label: "lamp-service")
        logger.logLevel = .error
        let duration = options.duration?.duration
        let lamp = PeripheralService(peripheral, on: backend, logger: logger) { _ in
            Terminal.print("\(peripheral.name) is advertising; stop with Ctrl-C or SIGTERM.")
            // A graceful shutdown ends both waits.
            if let duration { try await Task.sleep(for: duration) } else { try await gracefulShutdown() }
        }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    ServiceGroupConfiguration.ServiceConfiguration(
                        service: lamp,
                        successTerminationBehavior: .gracefullyShutdownGroup
                    )
                ],
                gracefulShutdownSignals: [.sigterm, .sigint],
                logger: logger
            )
        )
        try await group.run()
    }
}
