import PeripheralBlueZ
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// The rules of the running version of BlueZ apply to added services.
@Suite(.timeLimit(.minutes(1)))
struct AddedServiceRulesTests {
    private static func run(
        on version: BlueZVersion,
        _ log: LogRecorder = LogRecorder(),
        _ body: @escaping @Sendable (EmulatedBlueZ, VirtualCentral, PeripheralSession) async throws -> Void
    ) async throws {
        let gateway = Peripheral("Gateway", pairing: .justWorks) {
            // The versions 5.74 and 5.75 require pinned services.
            GATTService(.battery, handle: 0x0100) { Characteristic<UInt8>(0x2A19, value: 99) }
        }
        // A connection does not interrupt the advertising of this adapter, so the run calls bluetoothd only
        // for what the test does.
        let adapter = EmulatedAdapter("hci0", kind: .legacy)
        try await withEmulatedBlueZ(.init(version: version, adapters: [adapter])) { bluez in
            try await gateway.run(on: bluez.backend, logger: log.logger) { session in
                let central = bluez.central(for: gateway)
                try await central.connect()
                try await body(bluez, central, session)
            }
        }
    }

    /// BlueZ's own services use handle 0x0013 before 5.81.
    @Test(arguments: ["5.66", "5.80", "5.81", "5.87"] as [BlueZVersion])
    func theHandlesOfBlueZAreThoseOfItsVersion(version: BlueZVersion) async throws {
        let value = Characteristic<UInt8>(0x2A6E, value: 7)
        let service = GATTService(0x181A, handle: 0x0013) { value }
        try await Self.run(on: version) { _, central, session in
            let before = try await central.discover()
            guard version < BlueZVersion(major: 5, minor: 81) else {
                try await session.add { service }
                #expect(try await central.read(value) == 7)
                return
            }
            let error = await #expect(throws: DeclarationError.self) { try await session.add { service } }
            #expect(error?.issues.first?.reason == "BlueZ's own services use the handles up to 0x0014")
            #expect(session.services.map(\.uuid) == [.battery])
            #expect(try await central.discover() == before)
        }
    }

    /// While the bus permits no call to bluetoothd, anything that is sent would have another error.
    @Test(arguments: ["5.66", "5.74", "5.75"] as [BlueZVersion])
    func nothingIsSentOfWhatIsRefused(version: BlueZVersion) async throws {
        let unpinned = GATTService(0x181A) { Characteristic<UInt8>(0x2A6E, value: 7) }
        let pinned = GATTService(0x181A, handle: 0x0013) { Characteristic<UInt8>(0x2A6E, value: 7) }
        let (refused, reason) =
            version == .v5_66
            ? (pinned, "BlueZ's own services use the handles up to 0x0014")
            : (unpinned, "BlueZ \(version) cannot assign handles to characteristics")
        try await Self.run(on: version) { bluez, central, session in
            let (before, state) = (try await central.discover(), session.state)
            try await bluez.setPermitted(false)
            let error = await #expect(throws: DeclarationError.self) { try await session.add { refused } }
            #expect(error?.issues.map(\.reason) == [reason])
            #expect(session.state == state)
            try await bluez.setPermitted(true)
            #expect(try await central.discover() == before)
            // The session can still add what this version can serve.
            let value = Characteristic<UInt8>(0x2A6E, value: 8)
            try await session.add { GATTService(0x181B, handle: 0x0120) { value } }
            #expect(try await central.read(value) == 8)
        }
    }

    /// A property that only some versions ignore is reported once, when the service is added.
    @Test(arguments: ["5.66", "5.72", "5.73", "5.87"] as [BlueZVersion])
    func whatBlueZIgnoresIsReported(version: BlueZVersion) async throws {
        let log = LogRecorder()
        try await Self.run(on: version, log) { _, _, session in
            #expect(!log.lines.contains { $0.contains("signed writes") })
            try await session.add {
                GATTService(0x181A, handle: 0x0120) {
                    Characteristic<UInt8>(0x2A6E, [.read, .authenticatedSignedWrites]) {
                        Read { 7 }
                        Write { _ in }
                        UserDescription("Outside")
                    }
                }
            }
        }
        let reason = "characteristic 2a6e \"Outside\" of service 181a: BlueZ before 5.73 drops signed writes"
        let expected = version < BlueZVersion(major: 5, minor: 73) ? 1 : 0
        #expect(log.lines.count { $0.contains(reason) } == expected)
    }
}
