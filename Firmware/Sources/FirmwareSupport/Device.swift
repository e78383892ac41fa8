import Glibc
package import Logging
package import PeripheralBlueZ
package import PeripheralKit
import PeripheralOneThread

/// The device that a peripheral runs on: its configuration, its start and its end.
package struct Device: Sendable {
    /// The configuration.
    package let configuration: DeviceConfiguration
    /// The logger, which writes to standard error for the init system or syslog.
    package let logger: Logger

    /// Returns the name under which centrals find the device, `NAME`.
    package func name(default name: String) -> String { configuration["NAME"] ?? name }

    /// BlueZ on the adapter `ADAPTER`, such as hci0, or on the first adapter.
    ///
    /// The adapter is powered on if it is off. A service manager receives the status of the peripheral.
    package var backend: BlueZBackend {
        BlueZBackend(
            adapter: configuration["ADAPTER"].map { .named($0) } ?? .firstPowered,
            settings: AdapterSettings(powersOn: true),
            serviceManager: .fromEnvironment
        )
    }

    /// Runs a peripheral until `SIGTERM` or `SIGINT`.
    ///
    /// Then the body is cancelled, pending requests are answered, and the services are withdrawn.
    package func run(
        _ peripheral: Peripheral,
        _ body: (@Sendable (_ session: PeripheralSession) async throws -> Void)? = nil
    ) async throws {
        try await peripheral.run(on: backend, stoppingOn: [SIGTERM, SIGINT], logger: logger, body)
    }

    /// Runs a program on one thread.
    ///
    /// An error is printed in one line, and ends the program with status 1. The status is 78 (`EX_CONFIG`)
    /// for an error in the configuration.
    package static func start(
        _ program: String,
        _ body: @escaping @Sendable (_ device: Device) async throws -> Void
    ) -> Never {
        OneThread.run {
            do {
                let configuration = try DeviceConfiguration(of: program)
                var logger = Logger(label: program) { StreamLogHandler.standardError(label: $0) }
                logger.logLevel = .notice
                try await body(Device(configuration: configuration, logger: logger))
            } catch {
                var line = "\(program): \(error)\n"
                _ = line.withUTF8 { write(STDERR_FILENO, $0.baseAddress, $0.count) }
                return error is ConfigurationError ? 78 : 1
            }
            return 0
        }
    }
}
