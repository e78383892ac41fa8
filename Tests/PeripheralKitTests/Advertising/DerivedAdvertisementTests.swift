import PeripheralKit
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct DerivedAdvertisementTests {
    private static func service(_ uuid: BluetoothUUID) -> GATTService {
        GATTService(uuid) { Characteristic<UInt8>(0x2A19, value: 1) }
    }

    /// What the peripheral would advertise.
    private static func advertisement(of peripheral: Peripheral) async throws -> Advertisement {
        let (published, publish) = AsyncStream.makeStream(of: BackendPublication.self)
        let backend = ScriptedBackend { publication, _ in publish.yield(publication) }
        await #expect(throws: CancellationError.self) {
            try await peripheral.run(on: backend, logger: .silent)
        }
        let publication = try #require(await published.first { _ in true })
        return try #require(publication.advertisements.first)
    }

    @Test func nameAndServicesAreFilledIn() async throws {
        let found = try await Self.advertisement(
            of: Peripheral("Pulse") {
                Self.service(0x180D)
                Self.service(0x180F)
                Self.service(0x180D)
            }
        )
        #expect(found == Advertisement(localName: "Pulse", services: [0x180D, 0x180F]))
    }

    @Test func whatIsDeclaredStays() async throws {
        let declared = Advertisement(
            localName: "Lamp",
            services: [],
            manufacturerData: [0x0059: [1, 2]],
            serviceData: [0x180F: [1]],
            appearance: 0x0340,
            discoverability: .never
        )
        let peripheral = Peripheral("Pulse") {
            Self.service(0x180D)
            declared
        }
        #expect(try await Self.advertisement(of: peripheral) == declared)
    }

    /// 31 bytes less 3 of flags hold one UUID of 128 bits in 18, and four of 16 bits in the 10 that are left.
    @Test func servicesThatDoNotFitAreLeftOut() async throws {
        let first: BluetoothUUID = "5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001"
        let second: BluetoothUUID = "5c3a0002-7e3c-4b6e-9d29-b3f1c0a1d001"
        let peripheral = Peripheral("Many") {
            Self.service(first)
            Self.service(second)
            for number: UInt16 in 0x1810...0x1818 { Self.service(BluetoothUUID(number)) }
        }
        let found = try await Self.advertisement(of: peripheral)
        #expect(found.services == [first, 0x1810, 0x1811, 0x1812, 0x1813])
    }

    @Test func servicesGiveWayToDeclaredData() async throws {
        let peripheral = Peripheral("Full") {
            Self.service(0x180D)
            Self.service(0x180F)
            Advertisement(manufacturerData: [0xFFFF: [UInt8](repeating: 0, count: 20)])
        }
        #expect(try await Self.advertisement(of: peripheral).services == [0x180D])
    }
}
