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
        if emulated != nil {
            try await runEmulated(peripheral, serve, scene)
        } else {
            let place = adapter.map { " on \($0)" } ?? ""
            try await run(peripheral) { session in
                Terminal.print("\(peripheral.name) is advertising\(place); stop with Ctrl-C.")
                try await serve(session)
            }
        }
    }

    private func runEmulated(
        _ peripheral: Peripheral,
        _ serve: @escaping @Sendable (PeripheralSession) async throws -> Void,
        _ scene: @escaping @Sendable (VirtualCentral) async throws -> Void
    ) async throws {
        try await withEmulatedBluetooth { bluez in
            try await run(peripheral, on: bluez) { session in
                Terminal.print("\(peripheral.name) is advertising.")
                let central = bluez.central(for: peripheral, patience: .seconds(60))
                defer { central.disconnect() }
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
        }
        Terminal.print("The advertisement and the services are withdrawn.")
    }
}
