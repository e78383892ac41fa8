import PeripheralBlueZ
import PeripheralDBus
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// The alias of the adapter, which centrals read as the name of the device.
@Suite(.timeLimit(.minutes(1)))
struct AliasTests {
    private static func lamp(_ name: String = "Lamp", id: String? = nil) -> Peripheral {
        Peripheral(name, restorationIdentifier: id) {
            GATTService(.battery) { Characteristic<UInt8>(0x2A19, value: 99) }
        }
    }

    /// Reads, and perhaps changes, the alias over the bus.
    private static func alias(of bluez: EmulatedBlueZ, set new: String? = nil) async throws -> String? {
        let loop = EventLoop()
        let connection = try await BusConnection.connect(to: .address(bluez.busAddress), on: loop)
        let adapter: [BusValue] = [.string("org.bluez.Adapter1"), .string("Alias")]
        if let new {
            _ = try await connection.call(
                "org.bluez",
                "/org/bluez/hci0",
                .properties,
                "Set",
                adapter + [.variant(.string(new))]
            )
        }
        let alias = try await connection.call("org.bluez", "/org/bluez/hci0", .properties, "Get", adapter)
        await connection.close()
        await loop.stop()
        return alias.first?.string
    }

    private static func expectAlias(
        _ expected: String,
        of bluez: EmulatedBlueZ,
        at location: SourceLocation = #_sourceLocation
    ) async throws {
        let alias = try await alias(of: bluez)
        #expect(alias == expected, sourceLocation: location)
    }

    /// Returns the name that a central reads.
    private static func name(_ peripheral: Peripheral, on bluez: EmulatedBlueZ) async throws -> String {
        let central = bluez.central(for: peripheral)
        try await central.connect(mtu: 517)
        let value = try await central.read(AttributeHandle(rawValue: 3), offset: 0)
        central.disconnect()
        return String(decoding: value, as: UTF8.self)
    }

    @Test(arguments: [BlueZVersion.v5_66, .v5_87])
    func theAdapterHasTheNameDuringTheRun(version: BlueZVersion) async throws {
        try await withEmulatedBlueZ(.init(version: version)) { bluez in
            let lamp = Self.lamp()
            // A second run of the same peripheral does the same.
            for _ in 0..<2 {
                try await Self.expectAlias("BlueZ \(version)", of: bluez)
                try await lamp.run(on: bluez.backend, logger: .silent) { session in
                    #expect(try await Self.name(lamp, on: bluez) == "Lamp")
                    try await bluez.restartDaemon()
                    try await until { !session.state.isOnTheAir }
                    try await until { session.state.isOnTheAir }
                    #expect(try await Self.name(lamp, on: bluez) == "Lamp")
                }
            }
            try await Self.expectAlias("BlueZ \(version)", of: bluez)
        }
    }

    @Test func theAdapterHasTheNameThatTheProgramChangesTo() async throws {
        try await withEmulatedBlueZ { bluez in
            try await Self.lamp().run(on: bluez.backend, logger: .silent) { session in
                try await session.changeAdvertisement { $0.localName = "Kitchen" }
                try await Self.expectAlias("Kitchen", of: bluez)
                // A peripheral that is off the air keeps its name.
                try await session.stopAdvertising()
                try await Self.expectAlias("Kitchen", of: bluez)
                try await session.advertise(Advertisement(localName: "Hall"))
                try await Self.expectAlias("Hall", of: bluez)
                try await bluez.restartDaemon()
                try await until { !session.state.isOnTheAir }
                try await until { session.state.isOnTheAir }
                try await Self.expectAlias("Hall", of: bluez)
            }
            try await Self.expectAlias("BlueZ 5.66", of: bluez)
        }
    }

    @Test func aNewNameLeavesTheAliasOfAPerson() async throws {
        try await withEmulatedBlueZ { bluez in
            try await Self.lamp().run(on: bluez.backend, logger: .silent) { session in
                _ = try await Self.alias(of: bluez, set: "Cellar")
                try await session.changeAdvertisement { $0.localName = "Kitchen" }
                try await Self.expectAlias("Cellar", of: bluez)
            }
            try await Self.expectAlias("Cellar", of: bluez)
        }
    }

    @Test func anAliasOfAPersonStays() async throws {
        try await withEmulatedBlueZ { bluez in
            _ = try await Self.alias(of: bluez, set: "Kitchen")
            let log = LogRecorder()
            try await Self.lamp().run(on: bluez.backend, logger: log.logger) { _ in
                try await Self.expectAlias("Kitchen", of: bluez)
            }
            try await Self.expectAlias("Kitchen", of: bluez)
            #expect(log.lines.count { $0.contains("'Kitchen' of the adapter instead of 'Lamp'") } == 1)
        }
    }

    @Test func anAliasThatSomeoneChoosesDuringTheRunStays() async throws {
        try await withEmulatedBlueZ { bluez in
            try await Self.lamp().run(on: bluez.backend, logger: .silent) { _ in
                _ = try await Self.alias(of: bluez, set: "Kitchen")
            }
            try await Self.expectAlias("Kitchen", of: bluez)
        }
    }

    @Test func theFirstOfTwoPeripheralsNamesTheAdapter() async throws {
        try await withEmulatedBlueZ { bluez in
            let (first, second) = (Self.lamp("First"), Self.lamp("Second"))
            try await first.run(on: bluez.backend, logger: .silent) { _ in
                try await second.run(on: bluez.backend, logger: .silent) { _ in
                    try await Self.expectAlias("First", of: bluez)
                }
                try await Self.expectAlias("First", of: bluez)
            }
            // A peripheral without a name leaves the alias alone, but another program still advertises.
            let nameless = Peripheral("Nameless") {
                GATTService(.battery) { Characteristic<UInt8>(0x2A19, value: 99) }
                Advertisement(localName: "")
            }
            try await nameless.run(on: bluez.backend, logger: .silent) { _ in
                try await Self.expectAlias("BlueZ 5.66", of: bluez)
                try await second.run(on: bluez.backend, logger: .silent) { _ in
                    try await Self.expectAlias("BlueZ 5.66", of: bluez)
                }
            }
        }
    }

    /// bluetoothd stores the alias, so it outlasts a program that is killed.
    @Test func theNextRunRecognizesTheAliasOfAKilledProgram() async throws {
        try await withEmulatedBlueZ { bluez in
            let store = InMemoryRestorationStore()
            try await Self.lamp("Lamp", id: "lamp").run(
                on: bluez.backend,
                restoringFrom: store,
                logger: .silent
            ) {
                _ in
            }
            try await Self.expectAlias("BlueZ 5.66", of: bluez)
            let killed = try await Self.lamp("Lamp", id: "lamp").run(
                on: bluez.backend,
                restoringFrom: store,
                savingEvery: .milliseconds(1),
                logger: .silent
            ) { _ in
                try await until { "\(String(describing: store["lamp"]))".contains("Lamp") }
                return store.snapshot()
            }
            _ = try await Self.alias(of: bluez, set: "Lamp")
            try await Self.lamp("Lamp 2", id: "lamp").run(
                on: bluez.backend,
                restoringFrom: killed,
                logger: .silent
            ) { _ in
                try await Self.expectAlias("Lamp 2", of: bluez)
            }
            try await Self.expectAlias("BlueZ 5.66", of: bluez)
        }
    }

    @Test func theProgramCanChooseAnAliasOrLeaveIt() async throws {
        try await withEmulatedBlueZ { bluez in
            let unchanged = bluez.backend(settings: AdapterSettings(alias: .unchanged))
            try await Self.lamp().run(on: unchanged, logger: .silent) { _ in
                try await Self.expectAlias("BlueZ 5.66", of: bluez)
            }
            let named = bluez.backend(settings: AdapterSettings(alias: "Kitchen"))
            try await Self.lamp().run(on: named, logger: .silent) { _ in }
            try await Self.expectAlias("Kitchen", of: bluez)
        }
    }
}
