import PeripheralBeacon
import PeripheralKit
import PeripheralTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct IBeaconTests {
    /// Proximity Beacon Specification, R1, section 3: the advertisement after the flags.
    @Test func hasTheBytesOfTheSpecification() {
        let beacon = Advertisement.iBeacon(
            uuid: "e2c56db5-dffb-48d2-b060-d0f5a71096e0",
            major: 0x0102,
            minor: 0xFFFE,
            measuredPower: -59
        )
        #expect(
            beacon.manufacturerData
                == [0x004C: bytes("0215 E2C56DB5DFFB48D2B060D0F5A71096E0 0102 FFFE C5")]
        )
        #expect(beacon.kind == .broadcast)
        #expect(beacon.serviceData.isEmpty)
    }

    @Test func writesShortUUIDsInFull() {
        let beacon = Advertisement.iBeacon(uuid: 0x180F, major: 0, minor: 0, measuredPower: 0)
        #expect(
            beacon.manufacturerData[0x004C]?[2..<18].elementsEqual(
                bytes("0000180F 0000 1000 8000 00805F9B34FB")
            )
                == true
        )
    }

    @Test func aMalformedUUIDIsInvalid() {
        let issues = Peripheral("Shop") {
            Advertisement.iBeacon(uuid: "e2c56db5-dffb-48d2", major: 0, minor: 0, measuredPower: 0)
        }.validate()
        #expect(issues.map(\.severity) == [.error])
        #expect(issues.first?.reason == "\"e2c56db5-dffb-48d2\" does not have the form of a UUID")
    }

    @Test func fitsOnEveryAdapter() {
        let beacon = Advertisement.iBeacon(uuid: 0x180F, major: 0, minor: 0, measuredPower: 0)
        #expect(Peripheral("A name that is too long for a beacon") { beacon }.validate() == [])
    }

    /// The peripheral declares nothing else.
    @Test func isAllThatCentralsReceive() async throws {
        let peripheral = Peripheral("Shop") {
            Advertisement.iBeacon(uuid: 0x180F, major: 1, minor: 2, measuredPower: -59)
        }
        try await peripheral.test { central in
            let heard = central.scan()
            #expect(heard.count == 1)
            #expect(heard.first?.isConnectable == false)
            #expect(heard.first?.scanResponse == [])
            #expect(heard.first?.payload.localName == nil)
            #expect(heard.first?.payload.manufacturerData[0x004C]?.count == 23)
            await #expect(throws: TestCentralError.self) { try await central.connect() }
        }
    }
}
