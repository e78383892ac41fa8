import Glibc
internal import Logging
internal import PeripheralBlueZ
package import PeripheralEmulator
package import PeripheralKit

extension RunOptions {
    /// Runs a peripheral until `SIGINT`, `SIGTERM` or the end of `--duration`.
    ///
    /// Then the body is cancelled, pending requests are answered, and the services are withdrawn.
    ///
    /// - Parameters:
    ///   - peripheral: The peripheral.
    ///   - emulator: An emulated bluetoothd. If the value is `nil`, the peripheral runs on BlueZ and
    ///     `--adapter`.
    ///   - body: The work of the peripheral while it is on the air.
    /// - Throws: The error that ends the run. `BluetoothProblem` if this machine has no usable Bluetooth.
    package func run(
        _ peripheral: Peripheral,
        on emulator: EmulatedBlueZ? = nil,
        _ body: @escaping @Sendable (_ session: PeripheralSession) async throws -> Void
    ) async throws {
        // The terminal belongs to the example, so its log contains only what the user should act on. An
        // emulated bluetoothd has no settings to change.
        var logger = Logger(label: peripheral.name) { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = emulator == nil ? .notice : .error
        let limit = duration?.duration ?? .seconds(Int64.max / 2)
        try await withNextSteps {
            try await peripheral.run(
                on: emulator?.backend ?? bluez,
                stoppingOn: [SIGINT, SIGTERM],
                logger: logger,
                body,
                until: { try? await Task.sleep(for: limit) }
            )
        }
    }
}
