import PeripheralBlueZ
import PeripheralDBus
import PeripheralEmulator
import PeripheralKit
import TestSupport
import Testing

/// What a service manager hears of a peripheral.
@Suite(.timeLimit(.minutes(1)))
struct SystemdNotifierTests {
    private let peripheral = Peripheral("Managed") {
        GATTService(.battery) { Characteristic(.batteryLevel, value: 100 as UInt8) }
    }

    @Test func hearsOfTheBeginningAndTheEnd() async throws {
        let listener = try NotificationListener()
        try await withEmulatedBlueZ { bluez in
            let backend = BlueZBackend(
                serviceManager: SystemdNotifier(socket: listener.address),
                bus: .address(bluez.busAddress)
            )
            try await peripheral.run(on: backend, logger: .silent) { _ in
                let told = try await listener.told { $0.contains("STATUS=On the air.") }
                #expect(told.filter { $0.contains("READY=1") }.count == 1)
                await bluez.killDaemon()
                _ = try await listener.told { $0.hasPrefix("STATUS=bluetoothd") }
                try await bluez.startDaemon()
                let again = try await listener.told { $0.contains("STATUS=On the air.") }
                #expect(!again.contains { $0.contains("READY") })
            }
        }
        let told = try await listener.told { $0.hasPrefix("STOPPING=1") }
        #expect(!told.contains { $0.contains("WATCHDOG") })
        #expect(listener.next() == nil)
    }

    /// Where bluetoothd may come up later than the program, the others need not wait for it.
    @Test func hearsThatItIsReadyWithoutBlueZ() async throws {
        let listener = try NotificationListener()
        let backend = BlueZBackend(
            serviceManager: SystemdNotifier(socket: listener.address),
            bus: .address("unix:path=/nonexistent/bus")
        )
        let run = Task { try await peripheral.run(on: backend, logger: .silent) { _ in } }
        let told = try await listener.told { $0.contains("READY=1") }
        #expect(told.last?.contains("STATUS=The system bus cannot be reached") == true)
        run.cancel()
        await #expect(throws: CancellationError.self) { try await run.value }
        _ = try await listener.told { $0.hasPrefix("STOPPING=1") }
    }
}
