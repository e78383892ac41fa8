import Logging
import PeripheralBlueZ
import PeripheralEmulator
import PeripheralKit
import PeripheralServiceLifecycle
import ServiceLifecycle

/// A lamp that ends in order when systemd, or anybody else, sends SIGTERM.
@main
struct LampService {
    static let power = Characteristic<Bool>("5c3a0002-7e3c-4b6e-9d29-b3f1c0a1d001", value: true)

    static let peripheral = Peripheral("Lamp") {
        GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001") { power }
    }

    static func main() async throws {
        if CommandLine.arguments.dropFirst().first == "--emulated" {
            try await withEmulatedBlueZ { bluez in
                try await run(on: bluez.backend)
                let isOnTheAir = !bluez.central(for: peripheral).scan().isEmpty
                print(isOnTheAir ? "Something is left." : "Nothing is left.")
            }
        } else {
            try await run(on: .bluez)
        }
    }

    static func run(on backend: some PeripheralBackend) async throws {
        let logger = Logger(label: "lamp-service")
        let lamp = PeripheralService(peripheral, on: backend) { _ in
            logger.info("The lamp is on the air; end it by SIGTERM.")
            try await gracefulShutdown()
        }
        let group = ServiceGroup(
            services: [lamp],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        try await group.run()
    }
}
