import Glibc
package import Logging
package import PeripheralBlueZ
import PeripheralOneThread

/// The device that a peripheral runs on: what is set for it, and how it begins and ends there.
package struct Device: Sendable {
    /// What is set.
    package let configuration: DeviceConfiguration
    /// Writes to standard error, which the init system or syslog keeps.
    package let logger: Logger
    private let stop: StopRequest

    /// The name under which centrals find it, `NAME`.
    package func name(default name: String) -> String { configuration["NAME"] ?? name }

    /// BlueZ, on the adapter `ADAPTER`, such as hci0, or else the first, which is powered on if it is off; a service manager
    /// is told how the peripheral does.
    package var backend: BlueZBackend {
        BlueZBackend(
            adapter: configuration["ADAPTER"].map { .named($0) } ?? .firstPowered,
            settings: AdapterSettings(powersOn: true),
            serviceManager: .fromEnvironment,
            logger: logger
        )
    }

    /// Runs an operation, and cancels it when the program is to end.
    package func untilStopped(_ operation: @escaping @Sendable () async throws -> Void) async throws {
        try await stop.ends(operation)
    }

    /// Runs a program on one thread until `SIGTERM` or `SIGINT`; what goes wrong is told in a line, and ends it with the status
    /// 1, or 78 (`EX_CONFIG`) where the configuration is to blame.
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
                // It was to end before it had begun.
            } catch {
                var line = "\(program): \(error)\n"
                _ = line.withUTF8 { write(STDERR_FILENO, $0.baseAddress, $0.count) }
                return error is ConfigurationError ? 78 : 1
            }
            return 0
        }
    }
}
