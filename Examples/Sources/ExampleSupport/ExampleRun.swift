import Logging
import PeripheralBlueZ
import PeripheralEmulator
package import PeripheralKit
package import PeripheralTesting

extension RunOptions {
    /// Runs an example's peripheral on BlueZ, or on an emulated bluetoothd, until the program must stop.
    ///
    /// Then the bodies are cancelled, and the advertisement and the services are withdrawn.
    ///
    /// - Parameters:
    ///   - peripheral: The peripheral.
    ///   - serve: The work of the peripheral while it is on the air; `nil` if it only answers requests.
    ///   - scene: The actions of a virtual central with `--emulated`. The program ends with them.
    /// - Throws: The error that ends the run before the program must stop.
    package func run(
        _ peripheral: Peripheral,
        serve: (@Sendable (_ session: PeripheralSession) async throws -> Void)? = nil,
        emulated scene: @escaping @Sendable (_ central: VirtualCentral) async throws -> Void
    ) async throws {
        let serve = serve ?? { _ in try await Task.sleep(for: .seconds(Int64.max / 2)) }
        try await withStopRequest(after: duration?.duration) { [adapter, emulated] stop in
            if emulated {
                try await runEmulated(peripheral, until: stop, serve, scene)
            } else {
                try await runOnBlueZ(peripheral, adapter: adapter, until: stop, serve)
            }
        }
    }
}

private func runOnBlueZ(
    _ peripheral: Peripheral,
    adapter: String?,
    until stop: StopRequest,
    _ serve: @escaping @Sendable (PeripheralSession) async throws -> Void
) async throws {
    let logger = quietLogger(for: peripheral)
    let backend = BlueZBackend(
        adapter: adapter.map { .named($0) } ?? .firstPowered,
        recovery: .afterPublication,
        logger: logger
    )
    try await peripheral.run(on: backend, logger: logger) { session in
        let place = adapter.map { " on \($0)" } ?? ""
        Terminal.print("\(peripheral.name) is advertising\(place); stop with Ctrl-C.")
        try await stop.ends { try await serve(session) }
    }
}

private func runEmulated(
    _ peripheral: Peripheral,
    until stop: StopRequest,
    _ serve: @escaping @Sendable (PeripheralSession) async throws -> Void,
    _ scene: @escaping @Sendable (VirtualCentral) async throws -> Void
) async throws {
    Terminal.print("Starting an emulated bluetoothd on its own D-Bus. No radio is used.")
    try await withEmulatedBlueZ { bluez in
        try await peripheral.run(on: bluez.backend, logger: quietLogger(for: peripheral)) { session in
            Terminal.print("\(peripheral.name) is advertising.")
            let central = bluez.central(for: peripheral, patience: .seconds(60))
            try await stop.ends {
                try await withThrowingTaskGroup { group in
                    group.addTask {
                        try await serve(session)
                        return false
                    }
                    group.addTask {
                        try await scene(central)
                        return true
                    }
                    defer { group.cancelAll() }
                    // The peripheral serves until the scene of the central has ended.
                    for try await isSceneOver in group where isSceneOver { return }
                }
            }
            central.disconnect()
        }
    }
    Terminal.print("The advertisement and the services are withdrawn.")
}

/// Returns a logger for errors only, because the terminal belongs to the example.
///
/// An error that ends the run is printed at the end.
private func quietLogger(for peripheral: Peripheral) -> Logger {
    var logger = Logger(label: peripheral.name)
    logger.logLevel = .error
    return logger
}
