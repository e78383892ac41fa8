import Glibc
import PeripheralBlueZ
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// Signals that stop a peripheral gracefully.
@Suite(.timeLimit(.minutes(1)))
struct SignalTests {
    @Test func aSignalStopsAProgramAfterItHasAnswered() async throws {
        try await withEmulatedBlueZ { bluez in
            try await readsUntilTheEnd(of: HelperProcess("signal-test-helper", bluez.busAddress), on: bluez)
        }
    }

    @Test func aSignalStopsAProgramOnOneThreadAfterItHasAnswered() async throws {
        try await withEmulatedBlueZ { bluez in
            let process = try HelperProcess("one-thread-test-helper", "stops", bluez.busAddress)
            try await readsUntilTheEnd(of: process, on: bluez)
        }
    }

    /// Reads the value whose handler sends the signal.
    private func readsUntilTheEnd(of process: HelperProcess, on bluez: EmulatedBlueZ) async throws {
        let level = Characteristic<UInt8>(.batteryLevel, .read) { Read { 0 } }
        let twin = Peripheral("Stop") { GATTService("00002b01-7e3c-4b6e-9d29-b3f1c0a1d001") { level } }
        let central = bluez.central(for: twin, patience: .seconds(20))
        try await until { !central.scan().isEmpty }
        try await central.connect()
        #expect(try await central.read(level) == 42)
        #expect(process.exitStatus() == 0)
        #expect(central.scan().isEmpty)
    }

    @Test func aSecondSignalCancelsTheHandlers() async throws {
        let (begins, begin) = AsyncStream.makeStream(of: Void.self)
        let level = Characteristic<UInt8>(.batteryLevel, .read) {
            Read {
                begin.yield()
                try? await untilCancelled()
                throw ATTError.unlikelyError
            }
        }
        let peripheral = Peripheral("Stop") { GATTService(.battery) { level } }
        try await withEmulatedBlueZ { bluez in
            let central = bluez.central(for: peripheral)
            // The clock stands still, so only the signal can cancel the handler.
            async let run: Void = peripheral.run(
                on: bluez.backend,
                stoppingOn: [SIGUSR1],
                logger: .silent,
                clock: ManualClock()
            ) { _ in
                for await _ in begins { break }
                kill(getpid(), SIGUSR1)
                try? await untilCancelled()
                kill(getpid(), SIGUSR1)
            }
            try await until { !central.scan().isEmpty }
            try await central.connect()
            await #expect(throws: (any Error).self) { try await central.read(level) }
            try await run
        }
    }

    @Test func aSignalEndsTheWaitForBluetooth() async throws {
        try await withEmulatedBlueZ { bluez in
            await bluez.stopDaemon()
            let peripheral = Peripheral.battery
            async let run: Void = peripheral.run(
                on: bluez.backend,
                stoppingOn: [SIGUSR2],
                logger: .silent
            )
            for await state in peripheral.states where state.reason != nil { break }
            kill(getpid(), SIGUSR2)
            try await run
        }
    }

    @Test func aClosureStopsThePeripheralAsWell() async throws {
        try await withEmulatedBlueZ { bluez in
            let (begins, begin) = AsyncStream.makeStream(of: Never.self)
            try await Peripheral.battery.run(on: bluez.backend, stoppingOn: [SIGHUP], logger: .silent) {
                _ in
                begin.finish()
                try await untilCancelled()
            } until: {
                for await _ in begins {}
            }
            #expect(bluez.central(for: .battery).scan().isEmpty)
        }
    }

    @Test func aSignalThatNoProgramCanHandleIsAnError() async throws {
        try await withEmulatedBlueZ { bluez in
            let error = await #expect(throws: PeripheralError.self) {
                try await Peripheral.battery.run(
                    on: bluez.backend,
                    stoppingOn: [SIGHUP, SIGKILL],
                    logger: .silent
                ) { _ in Issue.record("The body has begun.") }
            }
            #expect(error?.code == .signalsUnavailable)
        }
    }
}
