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
        #expect(peripheral.validate().map(\.severity) == [.warning])
        let services = try await Self.table(of: peripheral).services
        #expect(services.map(\.includedServices) == [[], [], [], [], [1, 3, 2]])
        #expect(services.map(\.isPrimary) == [false, false, false, true, true])
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
            try await peripheral.run(on: InMemoryBackend(), logger: .silent) { _ in }
        }
        #expect(error?.code == .rejected)
    }
}
