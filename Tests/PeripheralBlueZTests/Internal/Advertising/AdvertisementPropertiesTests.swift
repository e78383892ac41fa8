import PeripheralCore
import PeripheralDBus
import PeripheralKit
import Testing

@testable import PeripheralBlueZ

@Suite(.timeLimit(.minutes(1)))
struct AdvertisementPropertiesTests {
    private static let custom: BluetoothUUID = "5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001"

    private static let full = Advertisement(
        localName: "Lamp",
        services: [0x180F, 0x1234_5678, custom],
        solicitedServices: [0x1805],
        manufacturerData: [0x0059: [1], 0x004C: [2]],
        serviceData: [0x180F: [98]],
        rawData: [0x26: [1]],
        appearance: 0x0340,
        includes: [.txPower],
        scanResponse: .init(services: [0x1800], manufacturerData: [1: [3]], rawData: [0x24: [4]]),
        discoverability: .limited(for: .seconds(30)),
        interval: .between(.milliseconds(100), and: .milliseconds(200)),
        transmitPower: .dBm(-4),
        secondaryChannel: .coded,
        duration: .seconds(2),
        timeout: .seconds(60)
    )

    private static func data(_ signature: Signature, _ entries: (BusValue, [UInt8])...) -> BusValue {
        let entries = entries.map { BusDictionary.Entry(key: $0, value: .variant(.bytes($1))) }
        return .dictionary(BusDictionary(key: signature, value: "v", entries))
    }

    @Test func everythingHasItsProperty() {
        let values = AdvertisementProperties(of: Self.full, for: .extended("5.80")).values
        #expect(
            values == [
                "Type": .string("peripheral"), "LocalName": .string("Lamp"),
                "ServiceUUIDs": .strings(["180f", "12345678", Self.custom.description]),
                "SolicitUUIDs": .strings(["1805"]),
                "ManufacturerData": Self.data("q", (.uint16(0x004C), [2]), (.uint16(0x0059), [1])),
                "ServiceData": Self.data("s", (.string("180f"), [98])),
                "Data": Self.data("y", (.byte(0x26), [1])), "Appearance": .uint16(0x0340),
                "Includes": .strings(["tx-power"]), "Discoverable": .bool(true),
                "DiscoverableTimeout": .uint16(30), "MinInterval": .uint32(100), "MaxInterval": .uint32(200),
                "TxPower": .int16(-4), "SecondaryChannel": .string("Coded"), "Duration": .uint16(2),
                "Timeout": .uint16(60), "ScanResponseServiceUUIDs": .strings(["1800"]),
                "ScanResponseManufacturerData": Self.data("q", (.uint16(1), [3])),
                "ScanResponseData": Self.data("y", (.byte(0x24), [4])),
            ]
        )
        for (name, value) in values {
            let declared = AdvertisementProperties.all.first { $0.name == name }
            #expect(declared?.signature == value.signature)
        }
    }

    @Test func whatIsNotDeclaredHasNone() {
        let values = AdvertisementProperties(of: Advertisement(services: []), for: .extended).values
        #expect(values == ["Type": .string("peripheral"), "Discoverable": .bool(true)])
    }

    @Test func olderVersionsHaveNoScanResponse() {
        let names = AdvertisementProperties(of: Self.full, for: .extended("5.79")).values.keys
        #expect(!names.contains { $0.text.hasPrefix("ScanResponse") })
    }

    @Test func broadcastSaysNothingOfDiscoverability() {
        let values = AdvertisementProperties(of: Advertisement(.broadcast), for: .extended).values
        #expect(values == ["Type": .string("broadcast")])
    }

    @Test(
        arguments: [
            (.legacy("5.66"), nil, 29), (.extended("5.87"), nil, 29), (.extended("5.66"), .oneM, 26),
            (.extended("5.82"), .oneM, 239), (.extended("5.87"), .oneM, 246),
        ] as [(AdvertisingCapabilities, SecondaryChannel?, Int)]
    )
    func namesAreCutToWhatFits(adapter: AdvertisingCapabilities, channel: SecondaryChannel?, count: Int) {
        let name = String(repeating: "n", count: 248)
        let advertisement = Advertisement(localName: name, secondaryChannel: channel)
        let values = AdvertisementProperties(of: advertisement, for: adapter).values
        #expect(values["LocalName"]?.string?.utf8.count == count)
    }

    @Test func changesAreTold() {
        let object = AdvertisementObject(Advertisement(localName: "A"), named: "advertisement", at: "/a")
        object.prepare(for: .extended)
        let (changed, gone) = object.change(to: Advertisement(localName: "B", appearance: 1))
        #expect(changed.map(\.0) == ["LocalName", "Appearance"])
        #expect(changed.map(\.1) == [.string("B"), .uint16(1)])
        #expect(gone == [])
        let reversed = object.change(to: Advertisement(localName: "B"))
        #expect(reversed.changed.isEmpty)
        #expect(reversed.gone == ["Appearance"])
        #expect(object.plan.localName == "B")
    }
}
