import PeripheralCore
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// Where a restored peripheral stands on the air, whatever has become of bluetoothd meanwhile.
@Suite(.timeLimit(.minutes(1)))
struct RestorationTests {
    private static let daemons = [
        EmulatedBlueZ.Configuration(version: .v5_66), EmulatedBlueZ.Configuration(version: .v5_87),
    ]

    private let level = Characteristic<UInt8>(0x2A19, .read) { Read { 7 } }
    private let store = InMemoryRestorationStore()

    private var peripheral: Peripheral {
        Peripheral("Restored", restorationIdentifier: "com.example.restored") {
            GATTService(.battery) { level }
        }
    }

    /// What has taken the place of the service with this value.
    private static func other(at value: AttributeHandle?) -> Peripheral {
        Peripheral("Other") {
            GATTService(0x1815, handle: value) { Characteristic<UInt8>(0x2A56, value: 1) }
        }
    }

    private func handle(on bluez: EmulatedBlueZ) async throws -> AttributeHandle? {
        try await peripheral.run(on: bluez.backend, restoringFrom: store, logger: .silent) {
            [level] session in
            try session.handle(of: level)
        }
    }

    /// The state directory of the user is for real runs only.
    @Test func emulatedRunKeepsItsStateInMemory() async throws {
        let dimmed = Characteristic<UInt8>(0x2A19, .read) { PersistentValue(initially: 0) }
        let lamp = Peripheral("Lamp", restorationIdentifier: "com.example.lamp") {
            GATTService(.battery) { dimmed }
        }
        try await withEmulatedBlueZ { bluez in
            let store = bluez.restorationStore
            let backend: any PeripheralBackend = bluez.backend
            #expect(try backend.restorationStore is InMemoryRestorationStore)
            try await lamp.run(on: bluez.backend, logger: .silent) { session in
                #expect(session.restored == nil)
                try await session.set(dimmed, to: 7)
                await #expect(throws: RestorationError.self) { try await store.erase("com.example.lamp") }
            }
            #expect(try await store.identifiers() == ["com.example.lamp"])
            try await bluez.restartDaemon()
            try await lamp.run(on: bluez.backend, logger: .silent) { session async throws in
                #expect(try session.value(of: dimmed) == 7)
            }
            try await store.erase("com.example.lamp")
            try await lamp.run(on: bluez.backend, logger: .silent) { session async throws in
                #expect(session.restored == nil)
                #expect(try session.value(of: dimmed) == 0)
            }
        }
        try await withEmulatedBlueZ { bluez async throws in
            #expect(try await bluez.restorationStore.identifiers().isEmpty)
        }
    }

    @Test(arguments: daemons)
    func itStandsWhereItWasAfterARestartOfBoth(daemon: EmulatedBlueZ.Configuration) async throws {
        try await withEmulatedBlueZ(daemon) { bluez in
            let other = Peripheral("Other") {
                GATTService(0x1815) { Characteristic<UInt8>(0x2A56, value: 1) }
            }
            // So that it does not stand where it would by itself.
            let before = try await other.run(on: bluez.backend, logger: .silent) { _ in
                try await handle(on: bluez)
            }
            try await bluez.restartDaemon()
            #expect(before != nil)
            #expect(try await handle(on: bluez) == before)
        }
    }

    @Test(arguments: daemons)
    func itIsToldWhenAnotherProgramHasItsHandles(daemon: EmulatedBlueZ.Configuration) async throws {
        try await withEmulatedBlueZ(daemon) { bluez in
            let before = try await handle(on: bluez)
            try await bluez.restartDaemon()
            try await Self.other(at: before).run(on: bluez.backend, logger: .silent) { [store, level] _ in
                try await peripheral.run(on: bluez.backend, restoringFrom: store, logger: .silent) {
                    session in
                    var events = session.events.makeAsyncIterator()
                    let first = try await events.next()
                    #expect(first == .handlesChanged)
                    let restored = try #require(session.restored)
                    let handle = try #require(try session.handle(of: level))
                    #expect(handle != before)
                    #expect(restored.handle(of: level) == before)
                    #expect(restored.changes.moved.count == 2 && restored.changes.invalidatesCaches)
                }
            }
            // From now on it stands there.
            #expect(try await handle(on: bluez) != before)
        }
    }
}
