import PeripheralBTHome
import PeripheralBeacon
import PeripheralKit
import PeripheralTesting
import Testing

/// A peripheral without services while it runs.
@Suite(.timeLimit(.minutes(1)))
struct ServicelessPeripheralTests {
    private let beacon = Peripheral("Shop") {
        Advertisement.iBeacon(uuid: 0x180F, major: 1, minor: 2, measuredPower: -59)
    }

    /// Centrals would find a peripheral that does nothing.
    @Test func refusesAConnectableAdvertisementWithoutData() async throws {
        try await beacon.test { central, session in
            await #expect(throws: DeclarationError.self) { try await session.advertise(Advertisement()) }
            #expect(central.scan().map(\.isConnectable) == [false])
        }
    }

    @Test func becomesConnectableWithItsFirstService() async throws {
        let level = Characteristic<UInt8>(.batteryLevel, value: 99)
        try await beacon.test { central, session in
            try await session.add { GATTService(.battery) { level } }
            try await session.advertise(Advertisement())
            #expect(central.scan().map(\.payload.services) == [[.battery]])
            try await central.connect()
            #expect(try await central.read(level) == 99)
        }
    }

    @Test func renewsAReading() async throws {
        let reading = try Advertisement.bthome([.temperature(21)])
        let peripheral = Peripheral("Balcony") { reading }
        try await peripheral.test { central, session in
            try await session.changeAdvertisement { try $0.setBTHome([.temperature(22)]) }
            #expect(central.scan().map(\.payload.serviceData) == [[0xFCD2: [0x40, 0x02, 0x98, 0x08]]])
            #expect(central.scan().first?.payload.localName == "Balcony")
        }
    }
}
