import ArgumentParser
import ExampleSupport
import Logging
import PeripheralBlueZ
import PeripheralEmulator
import PeripheralKit
import PeripheralServiceLifecycle
import ServiceLifecycle

/// A lamp that shuts down gracefully on SIGTERM, for example from systemd.
@main
struct LampService: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lamp-service",
        abstract: "Be a lamp that runs as a service of swift-service-lifecycle."
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
        if options.emulated {
            try await withEmulatedBlueZ { bluez in
                try await serve(peripheral, on: bluez.backend)
                let isOnTheAir = !bluez.central(for: peripheral).scan().isEmpty
                Terminal.print(isOnTheAir ? "Something is left." : "Nothing is left.")
            }
        } else {
            try await serve(
                peripheral,
                on: BlueZBackend(adapter: options.adapter.map { .named($0) } ?? .firstPowered)
            )
        }
    }

    /// Serves the lamp as the only service of the program, until a signal arrives or the time is up.
    private func serve(_ peripheral: Peripheral, on backend: some PeripheralBackend) async throws {
        let logger = Logger(label: "lamp-service")
        let lamp = PeripheralService(peripheral, on: backend) { [duration = options.duration?.duration] _ in
            logger.info("The lamp is on the air. Send SIGTERM to stop it.")
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
