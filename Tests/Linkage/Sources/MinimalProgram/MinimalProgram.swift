import PeripheralBlueZ
public import PeripheralKit

/// Runs a peripheral with a custom service, and with the services to measure.
///
/// - Parameters:
///   - services: The services whose size is measured.
///   - send: Sends the updates of these services, once a second.
/// - Throws: What ends the run of the peripheral.
public func runMinimalProgram(
    with services: [any GATTServiceDeclaration],
    sending send: @escaping @Sendable (PeripheralSession) async throws -> Void
) async throws {
    let value = Characteristic<UInt16>("5c3a0002-7c1e-4b39-9d3e-0a4d2f6b8c11", [.read, .write, .notify]) {
        Read { 42 }
        Write { _ in }
    }
    let peripheral = Peripheral("Minimal") {
        GATTService("5c3a0001-7c1e-4b39-9d3e-0a4d2f6b8c11") { value }
        for service in services { service }
    }
    try await peripheral.run(on: .bluez) { session in
        while true {
            try await session.notify(value, 42)
            try await send(session)
            try await Task.sleep(for: .seconds(1))
        }
    }
}
