import PeripheralBlueZ
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// bluetoothd crashes when an indication is confirmed, or its central leaves, after the services are
/// withdrawn.
@Suite(.timeLimit(.minutes(1)))
struct WithdrawalTests {
    private static let value = Characteristic<[UInt8]>(0x2A19, [.read, .indicate]) { Read { [] } }
    private static let peripheral = Peripheral("Last Words") { GATTService(.battery) { value } }

    /// Runs the peripheral until it has ended, with an indication that a central has not confirmed.
    private static func withUnconfirmedIndication(
        as version: BlueZVersion,
        _ body: (EmulatedBlueZ, VirtualCentral, Task<Void, any Error>, ManualClock) async throws -> Void
    ) async throws {
        let clock = ManualClock()
        try await withEmulatedBlueZ(.init(version: version)) { bluez in
            let central = bluez.central(for: peripheral)
            let run = Task {
                try await peripheral.run(on: bluez.backend(clock: clock), logger: .silent) { session in
                    try await central.connect()
                    central.setConfirmsIndications(false)
                    try await central.subscribe(to: value)
                    _ = try await central.read(value)
                    try await session.notify(value, [1])
                    #expect(try await central.nextUpdate(of: value) == [1])
                }
            }
            // The run waits for the confirmation.
            await clock.waitForSleeper()
            try await body(bluez, central, run, clock)
        }
    }

    /// Whether bluetoothd still serves: the same peripheral again, in a run that has nothing to wait for.
    private static func expectDaemon(of bluez: EmulatedBlueZ) async throws {
        try await peripheral.run(on: bluez.backend(recovery: .never), logger: .silent) { _ in }
    }

    @Test(arguments: [BlueZVersion.v5_66, .v5_82, .v5_87])
    func theServicesStayUntilAllIsConfirmed(version: BlueZVersion) async throws {
        try await Self.withUnconfirmedIndication(as: version) { bluez, central, run, _ in
            #expect(try await central.read(Self.value) == [])
            central.confirmIndication()
            try await run.value
            try await Self.expectDaemon(of: bluez)
        }
    }

    @Test(arguments: [BlueZVersion.v5_66, .v5_82, .v5_87])
    func theServicesStayUntilTheCentralIsGone(version: BlueZVersion) async throws {
        try await Self.withUnconfirmedIndication(as: version) { bluez, central, run, _ in
            central.disconnect()
            try await run.value
            try await Self.expectDaemon(of: bluez)
        }
    }

    @Test func theServicesStayUntilAllIsConfirmedAlsoWhenTheTaskIsCancelled() async throws {
        try await Self.withUnconfirmedIndication(as: .v5_87) { bluez, central, run, _ in
            run.cancel()
            #expect(try await central.read(Self.value) == [])
            central.confirmIndication()
            try? await run.value
            try await Self.expectDaemon(of: bluez)
        }
    }

    @Test(arguments: [BlueZVersion.v5_66, .v5_82, .v5_87])
    func theServicesDoNotStayForLongerThanASecond(version: BlueZVersion) async throws {
        try await Self.withUnconfirmedIndication(as: version) { _, central, run, clock in
            clock.advance(by: .seconds(1))
            try await run.value
            // The emulated bluetoothd crashes as well.
            central.confirmIndication()
            try await until { (try? await central.discover()) == nil }
        }
    }

    @Test func theEndOfTheDaemonEndsTheWait() async throws {
        try await Self.withUnconfirmedIndication(as: .v5_87) { bluez, _, run, _ in
            await bluez.killDaemon()
            try await run.value
        }
    }
}
