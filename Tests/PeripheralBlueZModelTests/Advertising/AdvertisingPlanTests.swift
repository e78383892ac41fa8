import PeripheralBlueZModel
import PeripheralKit
import Testing

/// What becomes of advertisements, byte by byte as recorded of bluetoothd.
@Suite(.timeLimit(.minutes(1)))
struct AdvertisingPlanTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var advertisement: Advertisement
        /// Advertising data and scan response; `nil` where it is refused.
        var bytes: [(AdvertisingCapabilities, String?)]

        init(_ name: String, _ advertisement: Advertisement, _ bytes: (AdvertisingCapabilities, String?)...) {
            testDescription = name
            self.advertisement = advertisement
            self.bytes = bytes
        }
    }

    private static func zeros(_ count: Int) -> [UInt16: [UInt8]] {
        [1: [UInt8](repeating: 0, count: count)]
    }

    private static let custom: BluetoothUUID = "52490000-7269-6700-0000-000000000001"
    private static let other: BluetoothUUID = "52490000-7269-6700-0000-000000000002"

    private static func nameOf(_ count: Int) -> String { String(repeating: "n", count: count) }
    private static func n(_ count: Int) -> String { String(repeating: "6e", count: count) }

    static let cases: [Case] = [
        Case(
            "name",
            Advertisement(localName: "Pulse"),
            (.legacy("5.66"), "020106 060950756c7365"),
            (.extended("5.66"), "020106 060950756c7365"),
            (.extended("5.87"), "020106 060950756c7365")
        ),
        Case(
            "nothing that is not discoverable",
            Advertisement(discoverability: .never),
            (.legacy("5.66"), "020104 "),
            (.extended("5.66"), " "),
            (.extended("5.69"), "020104 ")
        ),
        Case(
            "the kernel's flags stand in front, bluetoothd's behind",
            Advertisement(services: [0x1800], discoverability: .never),
            (.legacy("5.66"), "02010403030018 "),
            (.extended("5.66"), "02010403030018 "),
            (.extended("5.69"), "03030018020104 "),
            (.legacy("5.87"), "03030018020104 ")
        ),
        Case(
            "flags of a limited time",
            Advertisement(services: [0x1800], discoverability: .limited(for: .seconds(20))),
            (.extended("5.66"), "03030018020105 "),
            (.extended("5.87"), "03030018020105 ")
        ),
        Case(
            "everything that is small",
            Advertisement(
                localName: "Pulse",
                services: [0x180D, 0x180F],
                manufacturerData: [0x0059: [1, 2]],
                serviceData: [0x180F: [100]],
                appearance: 832,
                includes: [.txPower]
            ),
            (.extended("5.66"), "05030d180f1805ff5900010204160f186403194003020106020a00 060950756c7365"),
            (.legacy("5.87"), "05030d180f1805ff5900010204160f186403194003020106020a00 060950756c7365")
        ),
        Case(
            "services of all widths",
            Advertisement(services: [custom, 0x180D, 0x1234_5678]),
            (.legacy("5.66"), "03030d18050578563412110701000000000000000067697200004952020106 ")
        ),
        Case(
            "28 bytes and flags",
            Advertisement(localName: "Pulse", manufacturerData: zeros(24)),
            (.legacy("5.66"), "1bff0100" + String(repeating: "00", count: 24) + "020106 060950756c7365")
        ),
        Case(
            "29 bytes and flags",
            Advertisement(localName: "Pulse", services: [], manufacturerData: zeros(25)),
            (.legacy("5.66"), nil),
            (.legacy("5.87"), nil),
            (.extended("5.66"), nil),
            (.extended("5.75"), nil),
            (.extended("5.76"), "1cff0100" + String(repeating: "00", count: 25) + "060950756c7365020106 ")
        ),
        Case(
            "29 bytes without flags of bluetoothd",
            Advertisement(services: [], manufacturerData: zeros(25), discoverability: .never),
            (.legacy("5.66"), "1cff0100" + String(repeating: "00", count: 25) + " "),
            (.extended("5.66"), nil),
            (.legacy("5.69"), nil)
        ),
        Case(
            "power where there is room",
            Advertisement(manufacturerData: zeros(22), includes: [.txPower], discoverability: .never),
            (.legacy("5.66"), "02010419ff0100" + String(repeating: "00", count: 22) + " "),
            (.extended("5.66"), nil),
            (.legacy("5.87"), nil)
        ),
        Case(
            "the appearance does not lead to extended advertising",
            Advertisement(services: [custom], manufacturerData: zeros(3), appearance: 832),
            (.extended("5.87"), nil)
        ),
        Case(
            "two of 128 bits",
            Advertisement(services: [custom, other], discoverability: .never),
            (.extended("5.66"), nil),
            (
                .extended("5.87"),
                "210701000000000000000067697200004952020000000000000000676972000049520" + "20104 "
            )
        ),
        Case(
            "secondary channel",
            Advertisement(localName: "Pulse", services: [0x1800, 0x1801], secondaryChannel: .twoM),
            (.legacy("5.66"), nil),
            (.extended("5.66"), "050300180118060950756c7365020106 "),
            (.extended("5.87"), "050300180118060950756c7365020106 ")
        ),
        Case(
            "secondary channel, with the kernel's flags",
            Advertisement(
                localName: "Pulse",
                services: [0x1800, 0x1801],
                discoverability: .never,
                secondaryChannel: .oneM
            ),
            (.extended("5.66"), "020104050300180118060950756c7365 "),
            (.extended("5.87"), "050300180118060950756c7365020104 ")
        ),
        Case(
            "broadcast",
            Advertisement(.broadcast, localName: "Pulse", services: [0x1800, 0x1801]),
            (.extended("5.66"), "020104050300180118 060950756c7365"),
            (.legacy("5.87"), "020104050300180118 060950756c7365")
        ),
        Case(
            "scan response",
            Advertisement(
                localName: "Pulse",
                scanResponse: .init(
                    services: [0x180D],
                    solicitedServices: [0x1801],
                    manufacturerData: [1: [1]],
                    serviceData: [0x180F: [1]],
                    rawData: [0x26: [1]]
                )
            ),
            (.extended("5.79"), nil),
            (.extended("5.80"), "020106 03030d180314011804ff01000104160f1801060950756c7365022601"),
            (.legacy("5.87"), "020106 03030d180314011804ff01000104160f1801060950756c7365022601")
        ),
        Case(
            "a name that is too long",
            Advertisement(localName: nameOf(40)),
            (.legacy("5.66"), "020106 1e09" + n(29)),
            (.extended("5.82"), "020106 1e09" + n(29))
        ),
        Case(
            "a name that is too long beside a service",
            Advertisement(localName: nameOf(29), scanResponse: .init(services: [0x180D])),
            (.extended("5.87"), "020106 03030d181a09" + n(25))
        ),
        Case(
            "the adapter's name",
            Advertisement(includes: [.localName]),
            (named("BlueZ 5.66"), "020106 0b09426c75655a20352e3636"),
            (named("BlueZ 5.666"), "020106 0b08426c75655a20352e3636"),
            (named(""), "020106 ")
        ),
        Case(
            "the most that bluetoothd survives",
            Advertisement(services: [], manufacturerData: zeros(237)),
            (.extended("5.82"), "f0ff0100" + String(repeating: "00", count: 237) + "020106 "),
            (.extended("5.87"), "f0ff0100" + String(repeating: "00", count: 237) + "020106 ")
        ),
        Case(
            "more than bluetoothd survives",
            Advertisement(services: [], manufacturerData: zeros(238)),
            (.extended("5.82"), nil),
            (.extended("5.87"), "f1ff0100" + String(repeating: "00", count: 238) + "020106 ")
        ),
    ]

    private static func named(_ name: String) -> AdvertisingCapabilities {
        var capabilities = AdvertisingCapabilities.legacy("5.66")
        capabilities.adapterName = name
        return capabilities
    }

    @Test(arguments: cases)
    func bytesAreThoseOfBlueZ(_ test: Case) {
        for (capabilities, expected) in test.bytes {
            let plan = test.advertisement.plan(for: capabilities)
            let bytes = "\(plan.advertisingData.bytes.hexadecimal) \(plan.scanResponse.bytes.hexadecimal)"
            #expect((plan.isPossible ? bytes : nil) == expected, "\(plan)")
        }
    }

    @Test func adapterWithClassicBluetooth() {
        var adapter = AdvertisingCapabilities.extended("5.66")
        adapter.usesClassic = true
        let hidden = Advertisement(services: [0x1800], discoverability: .never)
        let shown = Advertisement(services: [0x1800])
        #expect(hidden.plan(for: adapter).advertisingData.bytes.hexadecimal == "03030018")
        #expect(shown.plan(for: adapter).advertisingData.bytes.hexadecimal == "03030018020106")
        adapter.isAdapterDiscoverable = true
        #expect(hidden.plan(for: adapter).advertisingData.bytes.hexadecimal == "02010203030018")
        #expect(shown.plan(for: adapter).advertisingData.bytes.hexadecimal == "03030018020102")
        adapter.version = "5.70"
        #expect(hidden.plan(for: adapter).advertisingData.bytes.hexadecimal == "03030018020100")
    }

    @Test func namesTheInterval() {
        func line(_ advertisement: Advertisement, _ capabilities: AdvertisingCapabilities = .legacy) -> String
        {
            String(advertisement.plan(for: capabilities).description.split(separator: "\n")[1])
        }
        #expect(line(Advertisement()) == "interval 100 to 152.5 ms")
        #expect(
            line(Advertisement(interval: .every(.milliseconds(50)), slowing: .after(.seconds(30))))
                == "interval 50 ms, 1022.5 ms after 30.0 seconds"
        )
        var experimental = AdvertisingCapabilities.legacy("5.66")
        experimental.isExperimental = true
        #expect(line(Advertisement(), experimental) == "interval 100 to 152.5 ms")
        let ignored = Advertisement(slowing: .after(.seconds(30))).plan(for: .legacy("5.76"))
        #expect((ignored.interval, ignored.slowing) == (nil, nil))
        #expect(ignored.issues.map(\.element) == ["interval of the advertisement"])
        #expect(Advertisement().plan(for: .legacy("5.66")).issues.isEmpty)
    }

    @Test func reportsWhatIsNotAsItSeems() {
        let long = Advertisement(
            localName: "A lamp with a name that is too long",
            interval: .every(.seconds(1))
        )
        #expect(
            long.plan(for: .legacy("5.66")).issues.map(\.description) == [
                "warning: local name of the advertisement: only its first 29 bytes fit; choose a name of at most 29 "
                    + "bytes",
                "warning: interval of the advertisement: BlueZ 5.66 ignores it; use BlueZ 5.77 or later, or start "
                    + "bluetoothd with --experimental",
            ]
        )
        let large = Advertisement(services: [], manufacturerData: Self.zeros(40))
        #expect(
            large.plan(for: .extended).issues.map(\.description) == [
                "warning: data of the advertisement: it has more than 31 bytes and is sent with extended advertising, "
                    + "which Bluetooth 4 centrals do not receive; shorten it, or set secondaryChannel if this is intended"
            ]
        )
        let shouting = Advertisement(transmitPower: .dBm(20))
        var adapter = AdvertisingCapabilities.extended
        adapter.transmitPowers = .dBm(-20) ... .dBm(8)
        #expect(
            shouting.plan(for: adapter).issues.map(\.description) == [
                "warning: transmit power of the advertisement: the adapter supports -20 dBm to 8 dBm and uses "
                    + "the nearest value; choose a value in this range"
            ]
        )
    }

    @Test func isATableForPeople() {
        let plan = Advertisement(localName: "Lamp", services: [0x180D], manufacturerData: Self.zeros(20))
            .plan(for: .legacy("5.66"))
        #expect(
            "\(plan)" == """
                BlueZ 5.66 on a Bluetooth 4 adapter: legacy advertising, connectable
                interval of bluetoothd's configuration, by default 1280 ms
                advertising data, 31 of 31 bytes
                    0  03 03 0d 18                       services
                    4  17 ff 01 00 00 00 00 00 00 00 …   manufacturer data 0x0001
                   28  02 01 06                          flags, added by BlueZ
                scan response, 6 of 31 bytes
                    0  05 09 4c 61 6d 70                 local name "Lamp"
                """
        )
    }

    @Test func openPartsAreFilledInFromThePeripheral() throws {
        let peripheral = Peripheral("Pulse") {
            GATTService(0x180D) { Characteristic<UInt8>(0x2A38, value: 1) }
            Advertisement()
            Advertisement(.broadcast, services: [], manufacturerData: [1: [2]])
        }
        let plans = peripheral.advertisingPlans(for: .legacy("5.66"))
        #expect(
            plans.map { "\($0.advertisingData.bytes.hexadecimal) \($0.scanResponse.bytes.hexadecimal)" } == [
                "03030d18020106 060950756c7365", "02010404ff010002 060950756c7365",
            ]
        )
    }
}

extension [UInt8] {
    fileprivate var hexadecimal: String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
