import PeripheralCore
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// Services that come and go during a run.
@Suite(.timeLimit(.minutes(1)))
struct ServicesTests {
    /// A service that records its work.
    private struct Sensor: GATTServiceDeclaration {
        let value: Characteristic<UInt8>
        let uuid: BluetoothUUID
        let log: Log<String>

        init(
            _ uuid: BluetoothUUID = 0x181A,
            log: Log<String> = Log(),
            read: @escaping @Sendable () async throws -> UInt8 = { 7 }
        ) {
            value = Characteristic<UInt8>(0x2A6E, [.read, .notify]) { Read { try await read() } }
            self.uuid = uuid
            self.log = log
        }

        var service: GATTService { GATTService(uuid) { value } }

        func run(in session: PeripheralSession) async throws {
            log.append("begins")
            // The work ends when it is cancelled.
            for await _ in AsyncStream<Never>.makeStream().stream {}
            log.append("ends")
        }
    }

    private let base = Characteristic<UInt8>(0x2A19, [.read, .notify]) { Read { 1 } }

    private var gateway: Peripheral {
        Peripheral("Gateway") { GATTService(0x180F) { base } }
    }

    @Test func anAddedServiceServesAndRuns() async throws {
        let sensor = Sensor()
        try await gateway.test { central, session in
            try await session.add { sensor }
            #expect(session.services.map(\.uuid) == [0x180F, 0x181A])
            #expect(try await central.read(sensor.value) == 7)
            try await central.subscribe(to: sensor.value)
            try await session.notify(sensor.value, 9)
            #expect(try await central.nextUpdate(of: sensor.value) == 9)
            try await until { sensor.log.entries == ["begins"] }
            try await session.remove(sensor)
            #expect(sensor.log.entries == ["begins", "ends"])
            #expect(session.services.map(\.uuid) == [0x180F])
            await #expect(throws: TestCentralError.self) { try await central.read(sensor.value) }
            #expect(try await central.read(base) == 1)
        }
    }

    @Test func aRemovedServiceReturnsToItsHandles() async throws {
        let sensors = ([1, 2, 3] as [UInt8]).map { reading in Sensor { reading } }
        try await gateway.test { central, session in
            for sensor in sensors { try await session.add { sensor } }
            let handles = try sensors.map { try session.handle(of: $0.value) }
            #expect(handles == [0x0102, 0x0106, 0x010A])
            try await session.remove(sensors[0])
            try await session.remove(sensors[1])
            try await session.add { sensors[1] }
            #expect(try session.handle(of: sensors[1].value) == 0x0106)
            #expect(try await central.read(sensors[1].value) == 2)
            #expect(try await central.read(sensors[2].value) == 3)
        }
    }

    @Test func subscriptionsEndWithTheirService() async throws {
        let sensor = Sensor()
        try await gateway.test { central, session in
            try await session.add { sensor }
            try await central.subscribe(to: sensor.value)
            try await central.subscribe(to: base)
            var events = session.events.makeAsyncIterator()
            try await session.remove(sensor)
            let event = try await events.next()
            guard case .unsubscribed(let subscription)? = event else {
                Issue.record("the subscription has not ended")
                return
            }
            #expect(subscription.characteristic == 0x2A6E)
            #expect(session.subscriptions.map(\.characteristic) == [0x2A19])
            #expect(throws: PeripheralError.self) { try session.update(sensor.value, 1) }
            try await session.notify(base, 5)
            #expect(try await central.nextUpdate(of: base) == 5)
            #expect(session.updateTotals.map(\.characteristic) == [0x2A19])
        }
    }

    @Test func aReplacedServiceMayUseTheSameCharacteristics() async throws {
        let sensor = Sensor()
        try await gateway.test { central, session in
            try await session.add { sensor }
            try await session.replace(sensor) {
                GATTService(0x181B) {
                    sensor.value
                    Characteristic<UInt8>(0x2A6F, .read) { Read { 8 } }
                }
            }
            #expect(session.services.map(\.uuid) == [0x180F, 0x181B])
            #expect(try await central.read(sensor.value) == 7)
        }
    }

    @Test func wrongChangesChangeNothing() async throws {
        let inner = GATTService(0x1815) { Characteristic<UInt8>(0x2A56, .read) { Read { 1 } } }
        let outer = GATTService(0x181C, includes: [inner]) {
            Characteristic<UInt8>(0x2A8A, .read) { Read { 2 } }
        }
        try await gateway.test { central, session in
            let before = try await central.discover()
            await #expect(throws: DeclarationError.self) { try await session.add { outer } }
            await #expect(throws: DeclarationError.self) { try await session.add { Advertisement() } }
            await #expect(throws: DeclarationError.self) {
                try await session.add {
                    GATTService(0x1800) { Characteristic<UInt8>(0x2A00, .read) { Read { 1 } } }
                }
            }
            await #expect(throws: DeclarationError.self) {
                try await session.add { GATTService(0x181A) { base } }
            }
            await #expect(throws: PeripheralError.self) { try await session.remove(outer) }
            #expect(try await central.discover() == before)
            try await session.add {
                inner
                outer
            }
            let both = try await central.discover()
            await #expect(throws: DeclarationError.self) { try await session.remove(inner) }
            #expect(try await central.discover() == both)
            try await session.remove(inner, outer)
            #expect(try await central.discover() == before)
        }
    }

    @Test func theLastServiceCanBeRemoved() async throws {
        let service = GATTService(0x180F) { base }
        try await Peripheral("Gateway") { service }.test { central, session in
            try await session.remove(service)
            #expect(try await central.discover().applicationServices.isEmpty)
            try await session.add { service }
            #expect(try await central.read(base) == 1)
        }
    }

    @Test func theAdvertisementFollowsTheServices() async throws {
        let sensor = Sensor()
        try await gateway.test { central, session in
            try await session.add { sensor }
            #expect(central.scan().first?.payload.services == [0x180F, 0x181A])
            try await session.remove(sensor)
            #expect(central.scan().first?.payload.services == [0x180F])
        }
    }

    @Test func aPendingRequestIsAnsweredBeforeTheRemoval() async throws {
        let log = Log<String>()
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let sensor = Sensor(log: log) {
            log.append("reads")
            for await _ in gate { break }
            return 4
        }
        try await gateway.test { central, session in
            try await session.add { sensor }
            try await until { log.entries == ["begins"] }
            async let value = central.read(sensor.value)
            try await until { log.entries.contains("reads") }
            async let removal: Void = session.remove(sensor)
            try await until { log.entries.contains("ends") }
            open.finish()
            #expect(try await value == 4)
            try await removal
        }
    }
}
