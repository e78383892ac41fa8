import PeripheralCore
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ServiceTests {
    private struct Battery: GATTServiceDeclaration {
        let level = Characteristic<UInt8>(0x2A19, value: 99)
        var service: GATTService { GATTService(0x180F) { level } }
    }

    /// What a peripheral publishes.
    private static func table(of peripheral: Peripheral) async throws -> AttributeTable {
        let (published, publish) = AsyncStream.makeStream(of: BackendPublication.self)
        let backend = ScriptedBackend { publication, _ in publish.yield(publication) }
        await #expect(throws: CancellationError.self) {
            try await peripheral.run(on: backend, logger: .silent)
        }
        return try #require(await published.first { _ in true }).table
    }

    /// The second of two services of one type is included, and a ready-made one, which is made again by each
    /// access.
    @Test func includedServicesAreThoseThatWereMeant() async throws {
        let lamps = (0..<2).map { number in
            GATTService(0x1815, isPrimary: false) { Characteristic<UInt8>(0x2A56, value: UInt8(number)) }
        }
        let empty = GATTService(0x1816, isPrimary: false) {}
        let battery = Battery()
        let peripheral = Peripheral("Lamps") {
            lamps
            empty
            battery
            GATTService(0x180A, includes: [lamps[1], battery, empty]) {
                Characteristic<UInt8>(0x2A50, value: 1)
            }
        }
        // The first lamp cannot be found, and one service is empty.
        #expect(peripheral.validate().map(\.element) == ["service 1815", "service 1816"])
        let services = try await Self.table(of: peripheral).services
        #expect(services.map(\.includedServices) == [[], [], [], [], [1, 3, 2]])
        #expect(services.map(\.isPrimary) == [false, false, false, true, true])
    }

    /// A service whose handlers need the properties of its type.
    private struct Thermostat: GATTServiceDeclaration {
        let target = Characteristic<UInt8>("5c3a0002-7e3c-4b6e-9d29-b3f1c0a1d001", [.read, .write])
        let reading = Characteristic<UInt8>(0x2A6E, [.read, .notify], length: .exactly(1)) {
            UserDescription("Reading")
        }
        let isOn = Characteristic<Bool>("5c3a0003-7e3c-4b6e-9d29-b3f1c0a1d001", [.read, .write, .notify])
        let offset: UInt8
        let written = Log<UInt8>()

        var service: GATTService {
            GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001") {
                target {
                    Read { 20 + offset }
                    Write { written.append($0) }
                }
                reading { Read { offset } }
                isOn { PersistentValue(initially: true) }
            }
        }
    }

    @Test func aServiceGivesItsCharacteristicsTheirHandlers() async throws {
        let thermostat = Thermostat(offset: 3)
        let peripheral = Peripheral("Thermostat") { thermostat }
        try await peripheral.test(logger: .silent) { central, session in
            #expect(try await central.read(thermostat.target) == 23)
            try await central.write(thermostat.target, 7)
            #expect(thermostat.written.entries == [7])
            let descriptors = try await central.discover().services.flatMap(\.characteristics)
                .first { $0.uuid == 0x2A6E }?.descriptors
            #expect(descriptors?.map(\.uuid).contains(0x2901) == true)
            try await central.subscribe(to: thermostat.reading)
            try await session.notify(thermostat.reading, 5)
            #expect(try await central.nextUpdate(of: thermostat.reading) == 5)
            // The session knows the persistent value, which only the service declares.
            try await session.set(thermostat.isOn, to: false)
            #expect(try session.value(of: thermostat.isOn) == false)
            // The service is the same one each time that its property is read.
            try await session.remove(thermostat)
            #expect(session.services.isEmpty)
            try await session.add { thermostat }
            #expect(try await central.read(thermostat.target) == 23)
        }
    }

    @Test func aSecondHandlerIsAnError() {
        let value = Characteristic<UInt8>(0x2A6E, .read) { Read { 1 } }
        let peripheral = Peripheral("P") { GATTService(0x181A) { value { Read { 2 } } } }
        #expect(peripheral.validate().map(\.severity) == [.error])
    }

    @Test func onlyPrimaryServicesAreAdvertised() async throws {
        let secondary = GATTService(0x1815, isPrimary: false) { Characteristic<UInt8>(0x2A56, value: 1) }
        let peripheral = Peripheral("P") {
            secondary
            GATTService(0x180F, includes: [secondary]) { Characteristic<UInt8>(0x2A19, value: 1) }
        }
        let backend = InMemoryBackend()
        try await peripheral.run(on: backend, logger: .silent) { _ in
            let found = backend.makeCentral(of: peripheral).scan()
            #expect(found.map(\.payload.services) == [[0x180F]])
        }
    }

    /// A pinned service may stand before one that is declared before it.
    @Test func pinnedServicesAreFound() async throws {
        let values = (0..<4).map { Characteristic<UInt8>(0x2A19, value: $0) }
        let peripheral = Peripheral("Pinned") {
            GATTService(0x180F, handle: 0x0200) { values[0] }
            GATTService(0x180F) { values[1] }
            GATTService(0x180F, handle: 0x0100) { values[2] }
            GATTService(0x180F) { values[3] }
        }
        try await peripheral.test { central in
            let database = try await central.discover()
            #expect(
                database.applicationServices.map(\.handles) == [
                    0x0100...0x0102, 0x0200...0x0202, 0x0203...0x0205, 0x0206...0x0208,
                ]
            )
            for (number, value) in values.enumerated() {
                #expect(try await central.read(value) == UInt8(number))
            }
        }
    }

    @Test func handlesOfTheStackAreTaken() async throws {
        let peripheral = Peripheral("Pinned") {
            GATTService(0x180F, handle: 0x0003) { Characteristic<UInt8>(0x2A19, value: 1) }
        }
        let error = await #expect(throws: PeripheralError.self) {
            try await peripheral.run(on: InMemoryBackend(as: .specification), logger: .silent) { _ in }
        }
        #expect(error?.code == .rejected)
    }
}
