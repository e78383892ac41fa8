import PeripheralCore
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// What is kept for several phones, of which bluetoothd cannot reach each alone.
@Suite(.timeLimit(.minutes(1)))
struct DurableUpdatesTests {
    private let open = Characteristic<UInt8>("5c3a0014-7e3c-4b6e-9d29-b3f1c0a1d001", .read) { Read { 0 } }

    /// Runs the body with two bonded phones that have subscribed.
    private func run(
        on version: BlueZVersion,
        security: SecurityLevel = .open,
        _ body:
            @escaping @Sendable (
                Characteristic<UInt8>, PeripheralSession, VirtualCentral, VirtualCentral
            ) async throws -> Void
    ) async throws {
        let audit = Characteristic<UInt8>(
            "5c3a0013-7e3c-4b6e-9d29-b3f1c0a1d001",
            [.read, .notify],
            security: AttributeSecurity(security),
            updates: .durable
        ) {
            Read { 0 }
        }
        let door = Peripheral("Door", restorationIdentifier: "com.example.door", pairing: .justWorks) {
            GATTService("5c3a0011-7e3c-4b6e-9d29-b3f1c0a1d001") {
                audit
                open
            }
        }
        try await withEmulatedBlueZ(EmulatedBlueZ.Configuration(version: version)) { bluez in
            let store = InMemoryRestorationStore()
            try await door.run(on: bluez.backend, restoringFrom: store, logger: .silent) { session in
                let (phone, other) = (bluez.central(for: door), bluez.central(for: door))
                for central in [phone, other] {
                    try await central.connect()
                    try await central.pair(.justWorks)
                    try await central.subscribe(to: audit)
                    _ = try await central.read(audit)
                }
                try await body(audit, session, phone, other)
            }
        }
    }

    private func leave(_ central: VirtualCentral, _ session: PeripheralSession) async throws {
        let events = session.events
        central.disconnect()
        for await event in events {
            if case .disconnected = event { return }
        }
    }

    /// Also when no phone was ever away (5.66), or one has come back, that is reached only with all others
    /// (5.87).
    @Test(arguments: [(BlueZVersion.v5_66, false), (.v5_87, true)])
    func eachGetsEachValueOnce(version: BlueZVersion, returns: Bool) async throws {
        try await run(on: version) { audit, session, phone, other in
            if returns {
                try await leave(phone, session)
                try await phone.connect()
                while try session.subscribers(of: audit).count < 2 { _ = try await phone.read(audit) }
            }
            for value in 1...9 as ClosedRange<UInt8> { try await session.notify(audit, value) }
            for central in [phone, other] {
                for value in 1...9 as ClosedRange<UInt8> {
                    #expect(try await central.nextUpdate(of: audit) == value)
                }
            }
        }
    }

    /// A bonded phone is subscribed again as soon as it connects, and may not get the values of a door before
    /// it encrypts.
    @Test(arguments: [BlueZVersion.v5_66, .v5_87])
    func whoReturnsGetsWhatWasKeptOnceItHasEncrypted(version: BlueZVersion) async throws {
        try await run(on: version, security: .encrypted) { audit, session, phone, other in
            try await leave(phone, session)
            try await session.notify(audit, 1)
            #expect(try await other.nextUpdate(of: audit) == 1)
            try await phone.connect(mtu: 517, encrypting: false)
            while try session.subscribers(of: audit).count < 2 { _ = try await phone.read(open) }
            try await session.notify(audit, 2)
            if version >= "5.76" {
                #expect(try await other.nextUpdate(of: audit) == 2)
            } else {
                // Before 5.76, no central can be reached until both links are encrypted. The test cannot see
                // the attempts.
                for _ in 0..<50 { _ = try await phone.read(open) }
            }
            try phone.encrypt()
            _ = try await phone.read(audit)
            let kept = [try await phone.nextUpdate(of: audit), try await phone.nextUpdate(of: audit)]
            #expect(kept == [1, 2])
        }
    }
}
