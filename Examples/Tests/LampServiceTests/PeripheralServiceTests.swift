import Logging
import PeripheralBlueZ
import PeripheralEmulator
import PeripheralKit
import PeripheralServiceLifecycle
import PeripheralTesting
import ServiceLifecycle
import Testing

/// A peripheral among the services of a program.
@Suite(.timeLimit(.minutes(1)))
struct PeripheralServiceTests {
    private static let logger = Logger(label: "silent") { _ in SwiftLogNoOpLogHandler() }

    private static func makePeripheral() -> Peripheral {
        Peripheral("Lamp") { GATTService(.battery) { Characteristic<UInt8>(0x2A19, value: 1) } }
    }

    @Test func aGracefulShutdownLeavesNothing() async throws {
        let peripheral = Self.makePeripheral()
        try await withEmulatedBlueZ { bluez in
            let service = PeripheralService(peripheral, on: bluez.backend, logger: Self.logger)
            let group = ServiceGroup(services: [service], logger: Self.logger)
            let run = Task { try await group.run() }
            for await state in peripheral.states where state.isOnTheAir { break }
            #expect(bluez.central(for: peripheral).scan().count == 1)
            await group.triggerGracefulShutdown()
            try await run.value
            #expect(bluez.central(for: peripheral).scan().isEmpty)
        }
    }

    @Test func aBodyThatGoesOnIsCancelled() async throws {
        let peripheral = Self.makePeripheral()
        try await withEmulatedBlueZ { bluez in
            let service = PeripheralService(peripheral, on: bluez.backend, logger: Self.logger) { session in
                for await _ in session.events {}
                try Task.checkCancellation()
            }
            let group = ServiceGroup(services: [service], logger: Self.logger)
            let run = Task { try await group.run() }
            for await state in peripheral.states where state.isOnTheAir { break }
            await group.triggerGracefulShutdown()
            try await run.value
            #expect(bluez.central(for: peripheral).scan().isEmpty)
        }
    }

    @Test func aShutdownEndsTheWaitForBluetooth() async throws {
        let peripheral = Self.makePeripheral()
        try await withEmulatedBlueZ { bluez in
            await bluez.stopDaemon()
            let service = PeripheralService(peripheral, on: bluez.backend, logger: Self.logger)
            let group = ServiceGroup(services: [service], logger: Self.logger)
            let run = Task { try await group.run() }
            for await state in peripheral.states where state.reason != nil { break }
            await group.triggerGracefulShutdown()
            try await run.value
        }
    }
}
