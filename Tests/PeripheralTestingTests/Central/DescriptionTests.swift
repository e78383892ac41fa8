import PeripheralKit
import PeripheralTesting
import Testing

/// The text that `print` shows for the results of a central.
@Suite(.timeLimit(.minutes(1)))
struct DescriptionTests {
    @Test func aDatabaseIsATable() {
        let level = DiscoveredCharacteristic(
            uuid: 0x2A19,
            declarationHandle: 0x11,
            valueHandle: 0x12,
            properties: [.read, .notify],
            descriptors: [DiscoveredDescriptor(uuid: 0x2902, handle: 0x13)]
        )
        let database = DiscoveredDatabase(services: [
            DiscoveredService(uuid: 0x180F, handles: 0x10...0x13, characteristics: [level]),
            DiscoveredService(
                uuid: 0x1812,
                handles: 0x14...0x15,
                characteristics: [],
                isPrimary: false,
                includedServices: [0x10]
            ),
        ])
        #expect(
            "\(database)" == """
                0x0010-0x0013  service 180f
                  0x0012  characteristic 2a19 [read, notify]
                    0x0013  descriptor 2902
                0x0014-0x0015  secondary service 1812, includes the service at 0x0010
                """
        )
    }

    @Test func aScanResultIsOneLine() async throws {
        let lamp = Peripheral("Lamp") {
            GATTService(0x180F) { Characteristic<UInt8>(0x2A19, value: 1) }
            Advertisement(manufacturerData: [0x4C: [1, 2]], serviceData: [0x180F: [7]], appearance: 0x0340)
        }
        try await lamp.test { central in
            #expect(
                "\(central.scan())"
                    == "[02:AA:01:00:00:42 connectable, name \"Lamp\", services 180f, appearance 0x0340, "
                    + "data of manufacturer 0x004c: 2 bytes, data of service 180f: 1 bytes, 22 + 6 bytes]"
            )
        }
    }

    @Test func aNameCannotAddALine() throws {
        let result = ScanResult(
            address: try #require(DeviceAddress(rawValue: 0x0200_0000_0001)),
            advertisingData: [],
            scanResponse: [3, 0x08, 0x41, 0x0A],
            isConnectable: false
        )
        #expect("\(result)" == "02:00:00:00:00:01 not connectable, shortened name \"A\\n\", 0 + 4 bytes")
    }
}
