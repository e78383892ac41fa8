import PeripheralCore
import PeripheralDBus
import PeripheralKit
import PeripheralTesting
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
        let values = AdvertisementProperties(of: Advertisement(services: []), for: .extended("5.76")).values
        #expect(values == ["Type": .string("peripheral"), "Discoverable": .bool(true)])
    }

    @Test func olderVersionsHaveNoScanResponse() {
        let names = AdvertisementProperties(of: Self.full, for: .extended("5.79")).values.keys
        #expect(!names.contains { $0.text.hasPrefix("ScanResponse") })
    }

    @Test func broadcastSaysNothingOfDiscoverability() {
        let values = AdvertisementProperties(of: Advertisement(.broadcast), for: .extended("5.76")).values
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

    struct Change: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var old = Advertisement(localName: "A")
        var new: Advertisement
        var adapter = AdvertisingCapabilities.extended("5.87")
        /// The names of the changed properties that bluetoothd receives.
        ///
        /// `nil` if the advertisement must be registered again.
        var told: [String]?
    }

    static let changes = [
        Change(testDescription: "nothing", new: Advertisement(localName: "A"), told: []),
        Change(testDescription: "another name", new: Advertisement(localName: "B"), told: ["LocalName"]),
        Change(testDescription: "no name", new: Advertisement(localName: "")),
        Change(
            testDescription: "services, data and appearance",
            new: Advertisement(
                localName: "A",
                services: [.battery],
                manufacturerData: [1: [2]],
                rawData: [0x26: [1]],
                appearance: 3
            ),
            told: ["ServiceUUIDs", "ManufacturerData", "Appearance", "Data"]
        ),
        Change(
            testDescription: "less of them, which comes first",
            old: Advertisement(
                localName: "A",
                services: [.battery],
                manufacturerData: [1: [2]],
                serviceData: [.battery: [1]]
            ),
            new: Advertisement(localName: "B", manufacturerData: [1: [3]]),
            told: ["ServiceUUIDs", "ServiceData", "ManufacturerData", "LocalName"]
        ),
        Change(
            testDescription: "no appearance any more",
            old: Advertisement(localName: "A", appearance: 3),
            new: Advertisement(localName: "A")
        ),
        Change(testDescription: "another kind", new: Advertisement(.broadcast, localName: "A")),
        Change(testDescription: "a timeout", new: Advertisement(localName: "A", timeout: .seconds(5))),
        Change(testDescription: "hidden", new: Advertisement(localName: "A", discoverability: .never)),
        Change(testDescription: "an include", new: Advertisement(localName: "A", includes: [.txPower])),
        Change(
            testDescription: "the scan response",
            new: Advertisement(localName: "A", scanResponse: .init(manufacturerData: [1: [2]]))
        ),
        Change(
            testDescription: "a shorter interval, its minimum first",
            new: Advertisement(localName: "A", interval: .between(.milliseconds(20), and: .milliseconds(30))),
            told: ["MinInterval", "MaxInterval"]
        ),
        Change(
            testDescription: "a longer interval, its maximum first",
            new: Advertisement(localName: "A", interval: .slow),
            told: ["MaxInterval", "MinInterval"]
        ),
        Change(
            testDescription: "an interval that this version ignores",
            new: Advertisement(localName: "A", interval: .slow),
            adapter: .extended("5.76"),
            told: []
        ),
        Change(
            testDescription: "as much as only extended advertising takes",
            new: Advertisement(localName: "A", manufacturerData: [1: [UInt8](repeating: 2, count: 60)])
        ),
        Change(
            testDescription: "the same behaviour towards BlueZ",
            new: Advertisement(localName: "A", whileConnected: .pause),
            told: []
        ),
    ]

    @Test(arguments: changes) func changesAreTold(change: Change) {
        let object = AdvertisementObject(at: "/a")
        object.set(change.old, for: change.adapter)
        let told = object.change(to: change.new)
        #expect(told?.map(\.0) == change.told)
        let expected = change.told == nil ? change.old : change.new
        #expect(
            object.plan(named: "advertisement") == expected.plan(for: change.adapter, named: "advertisement")
        )
        for (name, value) in told ?? [] {
            let present = AdvertisementProperties(of: change.new, for: change.adapter).values
            let isEnd = value.dictionary?.entries.isEmpty == true || value.elements?.isEmpty == true
            #expect(present.first { $0.key.text == name }?.value == (isEnd ? nil : value))
        }
    }

    @Test func theDefaultIntervalIsThatOfTheControllersSteps() {
        let values = AdvertisementProperties(of: Advertisement(), for: .legacy).values
        // bluetoothd divides by 0.625 ms, and rounds down: 160 and 244 steps.
        #expect(values["MinInterval"] == .uint32(100))
        #expect(values["MaxInterval"] == .uint32(153))
        let slow = AdvertisementProperties(of: Advertisement(interval: .slow), for: .legacy).values
        #expect(slow["MaxInterval"] == .uint32(1023))
        #expect(
            AdvertisementProperties(of: Advertisement(), for: .legacy("5.66")).values["MinInterval"] == nil
        )
    }

    @Test func onlyTheDefaultIntervalGoesAfterARefusal() {
        let object = AdvertisementObject(at: "/a")
        object.set(Advertisement(interval: .slow), for: .legacy)
        #expect(!object.removeDefaultInterval())
        object.set(Advertisement(), for: .legacy)
        #expect(object.removeDefaultInterval())
        #expect(!object.removeDefaultInterval())
        #expect(object.change(to: Advertisement(interval: .slow))?.isEmpty == true)
    }

    @Test func theTimeGoesOnWhileOtherThingsChange() {
        let clock = ManualClock()
        let time = AdvertisingTime()
        #expect(time.rest(of: .seconds(60)) == .seconds(60))
        time.start(by: clock)
        clock.advance(by: .seconds(20))
        #expect(time.rest(of: .seconds(60)) == .seconds(40))
        time.start(by: clock)
        clock.advance(by: .seconds(50))
        #expect(time.rest(of: .seconds(60)) == .seconds(1))
        #expect(time.rest(of: .seconds(90)) == .seconds(90))
        time.start(by: clock)
        clock.advance(by: .seconds(30))
        #expect(time.rest(of: .seconds(90)) == .seconds(60))
        time.reset()
        #expect(time.rest(of: .seconds(90)) == .seconds(90))
    }
}
