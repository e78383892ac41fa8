import PeripheralCore
import PeripheralKit
import PeripheralTesting
import Testing

/// What a peripheral does that is declared from what is preserved of it.
@Suite(.timeLimit(.minutes(1)))
final class RestoredPeripheralTests: Sendable {
    private static let identifier = "com.example.door"
    private static let service: BluetoothUUID = "5c3a0011-7e3c-4b6e-9d29-b3f1c0a1d001"

    private let isLocked = Characteristic<Bool>(
        "5c3a0012-7e3c-4b6e-9d29-b3f1c0a1d001",
        [.read, .write, .notify],
        security: .encrypted
    ) {
        PersistentValue(initially: true, writes: .durable)
    }
    private let level = Characteristic<UInt8>(0x2A19, [.read, .notify]) { Read { 7 } }
    private let store = InMemoryRestorationStore()
    private let backend = InMemoryBackend()

    private var door: Peripheral {
        Peripheral("Door", restorationIdentifier: Self.identifier, pairing: .justWorks) {
            GATTService(Self.service) { isLocked }
            GATTService(.battery) { level }
        }
    }

    @discardableResult
    private func run<Output: Sendable>(
        _ peripheral: Peripheral,
        _ body: @escaping @Sendable (VirtualCentral, PeripheralSession) async throws -> Output
    ) async throws -> Output {
        try await peripheral.run(on: backend, restoringFrom: store, savingEvery: .zero, logger: .silent) {
            [backend] session in
            try await body(backend.makeCentral(of: peripheral), session)
        }
    }

    /// The door once more, as it is preserved.
    private func doorAgain() async throws -> (door: Peripheral, level: Characteristic<UInt8>) {
        let preserved = try await store.preserved(as: Self.identifier)
        let level = try preserved.characteristic(0x2A19, as: UInt8.self) { Read { 8 } }
        return (preserved.again { level }, level)
    }

    @Test func itIsAsItWas() async throws {
        let advertisement = Advertisement(localName: "Open")
        try await run(door) { [isLocked] _, session in
            try await session.set(isLocked, to: false)
            try await session.advertise(advertisement)
        }
        #expect(try await store.identifiers() == [Self.identifier])
        let (door, level) = try await doorAgain()
        #expect(door.name == "Door")
        try await run(door) { central, session in
            #expect(session.restored?.changes.isEmpty == true)
            #expect(session.advertisements == [advertisement])
            try await central.connect()
            #expect(try await central.read(level) == 8)
            try await central.pair(.justWorks)
            let database = try await central.discover()
            let values = database.services.filter { $0.uuid == Self.service }.flatMap(\.characteristics)
            #expect(try await central.read(values[0].valueHandle, offset: 0) == [0])
        }
    }

    /// The present services are preserved, not the declared ones.
    @Test func itHasTheServicesThatItHadLast() async throws {
        let humidity = Characteristic<UInt8>(0x2A6F, [.read, .write]) { PersistentValue(initially: 1) }
        let places = try await run(door) { [level] central, session in
            try await session.add { GATTService(0x181A) { humidity } }
            try await session.set(humidity, to: 40)
            try await session.remove(GATTService(.battery) { level })
            try await central.connect()
            return try await central.discover().applicationServices
        }
        let preserved = try await store.preserved(as: Self.identifier)
        let again = preserved.again {}
        try await run(again) { central, session in
            #expect(session.services.map(\.uuid) == [Self.service, 0x181A])
            try await central.connect()
            let found = try await central.discover().applicationServices
            #expect(found == places)
            let handle = try #require(found.last?.characteristics.first?.valueHandle)
            #expect(try await central.read(handle, offset: 0) == [40])
        }
    }

    @Test func servicesChangeOnAFullDisk() async throws {
        let humidity = Characteristic<UInt8>(0x2A6F, [.read, .write]) { PersistentValue(initially: 1) }
        let store = store
        let places = try await run(door) { [level] central, session in
            try await central.connect()
            store.saveError = RestorationError(code: .unwritable, message: "The disk is full.")
            let sensor = GATTService(0x181A) { humidity }
            try await session.add { sensor }
            try await session.remove(GATTService(.battery) { level })
            let other = GATTService(0x181B) { humidity }
            try await session.replace(sensor) { other }
            _ = try await central.discover()
            try await central.write(humidity, 40)
            await #expect(throws: RestorationError.self) { try await session.preserve() }
            store.saveError = nil
            try await session.preserve()
            return try await central.discover().applicationServices
        }
        #expect(places.map(\.uuid) == [Self.service, 0x181B])
        let preserved = try await store.preserved(as: Self.identifier)
        try await run(preserved.again {}) { central, session in
            try await central.connect()
            let found = try await central.discover().applicationServices
            #expect(found == places)
            let handle = try #require(found.last?.characteristics.first?.valueHandle)
            #expect(try await central.read(handle, offset: 0) == [40])
        }
    }

    /// A service that the program adds again in the next run, as a gateway does.
    @Test func anAddedServiceReturnsToItsHandlesInTheNextRun() async throws {
        let sensors = (0..<3).map { number in
            GATTService(0x181A) { Characteristic<UInt8>(0x2A6E, value: UInt8(number)) }
        }
        let places = try await run(door) { central, session in
            for sensor in sensors { try await session.add { sensor } }
            try await session.remove(sensors[0])
            try await central.connect()
            return try await central.discover().applicationServices
        }
        try await run(door) { central, session in
            try await central.connect()
            let declared = places.filter { $0.uuid != 0x181A }
            #expect(try await central.discover().applicationServices == declared)
            let others = [2, 1].map { number in
                GATTService(0x181A) { Characteristic<UInt8>(0x2A6E, value: UInt8(number)) }
            }
            for sensor in others { try await session.add { sensor } }
            let found = try await central.discover().applicationServices
            #expect(found == places)
            var values: [[UInt8]] = []
            for service in found where service.uuid == 0x181A {
                values.append(try await central.read(service.characteristics[0].valueHandle, offset: 0))
            }
            #expect(values == [[1], [2]])
        }
    }

    @Test func whatAdvertisedNothingAdvertisesNothing() async throws {
        try await run(door) { _, session in try await session.stopAdvertising() }
        let (again, _) = try await doorAgain()
        #expect(again.advertisingPlans(for: .legacy).isEmpty)
        try await run(again) { central, session in
            #expect(session.advertisements == [])
            #expect(central.scan().isEmpty)
            // And begins when the program says so.
            try await session.advertise()
            #expect(session.advertisements == [Advertisement()])
            #expect(central.scan().count == 1)
        }
    }

    /// Also where it is given its handler, which says nothing of that.
    @Test(arguments: [false, true]) func itTreatsItsValuesAsBefore(isGiven: Bool) async throws {
        let code = Characteristic<[UInt8]>(
            0x2A1A,
            [.read, .write, .notify],
            length: .exactly(2),
            updates: .latest
        ) {
            PersistentValue(initially: [1, 2], writes: .durable)
        }
        let safe = Peripheral("Safe", restorationIdentifier: Self.identifier) {
            GATTService(Self.service) { code }
        }
        try await run(safe) { _, session in try await session.preserve() }
        let before = try PreservedState(decoding: try #require(store[Self.identifier]))
        let preserved = try await store.preserved(as: Self.identifier)
        let given = try preserved.characteristic(0x2A1A, as: [UInt8].self) {
            PersistentValue(initially: [1, 2]) { _ in }
        }
        let again = isGiven ? preserved.again { given } : preserved.again()
        // Nothing is saved within the test but what is waited for.
        try await again.run(
            on: backend,
            restoringFrom: store,
            savingEvery: .milliseconds(1),
            logger: .silent,
            clock: ManualClock()
        ) { [store, backend] _ in
            let central = backend.makeCentral(of: safe)
            try await central.connect()
            await #expect(throws: ATTError.invalidAttributeValueLength) {
                try await central.write(code, [1])
            }
            try await central.write(code, [3, 4])
            let state = try PreservedState(decoding: try #require(store[Self.identifier]))
            #expect(Array(state.values.values) == [[3, 4]])
            #expect(state.options == before.options && state.options.count == 1)
        }
    }

    @Test func whatIsNotPreservedIsNoPeripheral() async throws {
        let nothing = try await PreservedPeripheral("nothing", in: store)
        #expect(nothing == nil)
        try await run(door) { _, session in try await session.preserve() }
        let preserved = try await store.preserved(as: Self.identifier)
        #expect(throws: PeripheralError.self) {
            try preserved.characteristic(0x2AFF, as: UInt8.self) { Read { 8 } }
        }
    }
}
