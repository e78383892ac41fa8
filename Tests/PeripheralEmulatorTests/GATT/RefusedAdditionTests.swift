import PeripheralCore
import PeripheralDBus
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// Services that bluetoothd refuses because a program without claims has their handles.
@Suite(.timeLimit(.minutes(1)))
struct RefusedAdditionTests {
    /// The claims of a refused service do not stay in the database, so the Database Hash is the same again.
    @Test(arguments: [BlueZVersion.v5_66, .v5_87])
    func aRefusedAdditionLeavesTheDatabaseAsItWas(version: BlueZVersion) async throws {
        let gateway = Peripheral("Gateway", reservedHandles: 64) {
            GATTService(.battery) { Characteristic<UInt8>(0x2A19, value: 99) }
        }
        let pinned = GATTService(0xC200, handle: 0x0200) { Characteristic<UInt8>(0x2A6E, value: 7) }
        try await withEmulatedBlueZ(.init(version: version)) { bluez in
            try await gateway.run(on: bluez.backend, logger: .silent) { session in
                try await RawApplication.run(on: bluez) { other in
                    let service: [(String, BusValue)] = [
                        ("UUID", .string("1815")), ("Primary", .bool(true)), ("Handle", .uint16(0x0202)),
                    ]
                    try await other.export([.service("/app/s", service)])
                    #expect(await other.register() == "ok")
                    let central = bluez.central(for: gateway)
                    try await central.connect()
                    let found = try await central.discover().services.flatMap(\.characteristics)
                    let hash = try #require(found.first { $0.uuid == .databaseHash }?.valueHandle)
                    let before = try await central.read(hash, offset: 0)
                    for _ in 0..<2 {
                        await #expect(throws: PeripheralError.self) { try await session.add { pinned } }
                        #expect(try await central.read(hash, offset: 0) == before)
                    }
                    #expect(session.services.map(\.uuid) == [.battery])
                }
                // The handles are free again.
                try await session.add { pinned }
            }
        }
    }
}
