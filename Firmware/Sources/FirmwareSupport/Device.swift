import Glibc
package import Logging
package import PeripheralBlueZ
import PeripheralOneThread

/// The device that a peripheral runs on: its configuration, its start and its end.
package struct Device: Sendable {
    /// The configuration.
    package let configuration: DeviceConfiguration
    /// The logger, which writes to standard error for the init system or syslog.
    package let logger: Logger
    private let stop: StopRequest

    /// Returns the name under which centrals find the device, `NAME`.
    package func name(default name: String) -> String { configuration["NAME"] ?? name }

    /// BlueZ on the adapter `ADAPTER`, such as hci0, or on the first adapter.
    ///
    /// The adapter is powered on if it is off. A service manager receives the status of the peripheral.
    package var backend: BlueZBackend {
        BlueZBackend(
            adapter: configuration["ADAPTER"].map { .named($0) } ?? .firstPowered,
            settings: AdapterSettings(powersOn: true),
            serviceManager: .fromEnvironment,
            logger: logger
        )
    }

    /// Runs an operation, and cancels it when the program must end.
    package func untilStopped(_ operation: @escaping @Sendable () async throws -> Void) async throws {
        try await stop.ends(operation)
    }

    /// Runs a program on one thread until `SIGTERM` or `SIGINT`.
    ///
    /// An error is printed in one line, and ends the program with status 1. The status is 78 (`EX_CONFIG`)
    /// for an error in the configuration.
    package static func run(
        _ program: String,
        _ body: @escaping @Sendable (_ device: Device) async throws -> Void
    ) -> Never {
        OneThread.run {
            do {
                let configuration = try DeviceConfiguration(of: program)
                var logger = Logger(label: program) { StreamLogHandler.standardError(label: $0) }
                logger.logLevel = .notice
                let signals = try OneThread.arrivals(of: [SIGINT, SIGTERM])
                try await withStopRequest(after: nil, on: signals) { [logger] stop in
                    try await body(Device(configuration: configuration, logger: logger, stop: stop))
                }
            } catch is CancellationError {
                // The program was stopped before it had started.
            } catch {
                var line = "\(program): \(error)\n"
                _ = line.withUTF8 { write(STDERR_FILENO, $0.baseAddress, $0.count) }
                return error is ConfigurationError ? 78 : 1
            }
            return 0
        }
    }
}
