internal import PeripheralCore
internal import PeripheralKit

extension AdvertisingDeclaration {
    /// All advertising declarations of the conformance suite.
    ///
    /// The conformance suite uses the declarations to test single elements of advertisements, combinations of
    /// elements, and size limits.
    public static let all: [AdvertisingDeclaration] =
        services + data + names + flags + stackAdditions + limits + channels + broadcasts + scanResponses
        + timing

    private static let custom: BluetoothUUID = "52490000-7269-6700-0000-000000000001"
    private static let other: BluetoothUUID = "52490000-7269-6700-0000-000000000002"

    private static func zeros(_ count: Int) -> [UInt16: [UInt8]] {
        [0xFFFF: [UInt8](repeating: 0, count: count)]
    }

    private static let services = [
        AdvertisingDeclaration("what the peripheral says by itself", Advertisement()),
        AdvertisingDeclaration("no services", Advertisement(services: [])),
        AdvertisingDeclaration("services of 16 bits", Advertisement(services: [0x180D, 0x180F, 0x1800])),
        AdvertisingDeclaration("a service of 32 bits", Advertisement(services: [0x1234_5678])),
        AdvertisingDeclaration("a service of 128 bits", Advertisement(services: [custom])),
        AdvertisingDeclaration(
            "services of all widths",
            Advertisement(services: [custom, 0x1234_5678, 0x180D])
        ),
        AdvertisingDeclaration("two services of 128 bits", Advertisement(services: [custom, other])),
        AdvertisingDeclaration("a solicited service", Advertisement(solicitedServices: [0x1805])),
        AdvertisingDeclaration(
            "solicited services of all widths",
            Advertisement(services: [], solicitedServices: [0x1805, custom, 0x1234_5678])
        ),
    ]

    private static let data = [
        AdvertisingDeclaration(
            "data of two manufacturers",
            Advertisement(manufacturerData: [0x0059: [1, 2], 0x004C: [3]])
        ),
        AdvertisingDeclaration("service data of 16 bits", Advertisement(serviceData: [0x180F: [98]])),
        AdvertisingDeclaration("service data of 32 bits", Advertisement(serviceData: [0x1234_5678: [1]])),
        AdvertisingDeclaration("service data of 128 bits", Advertisement(serviceData: [custom: [1, 2, 3]])),
        AdvertisingDeclaration("raw data", Advertisement(rawData: [0x26: [1], 0x24: [2, 3]])),
        AdvertisingDeclaration("an appearance", Advertisement(appearance: 0x0340)),
        AdvertisingDeclaration(
            "everything that is small",
            Advertisement(
                localName: "Pulse",
                services: [0x180D],
                solicitedServices: [0x1805],
                manufacturerData: [0x0059: [1, 2]],
                serviceData: [0x180F: [100]],
                rawData: [0x26: [1]],
                appearance: 0x0340
            )
        ),
    ]

    private static let names = [
        AdvertisingDeclaration("no name", Advertisement(localName: "")),
        AdvertisingDeclaration(
            "a name of 29 bytes",
            Advertisement(localName: "A name of twenty-nine bytes..")
        ),
        AdvertisingDeclaration(
            "a name that is cut",
            Advertisement(localName: "A name of more than twenty-nine bytes")
        ),
        AdvertisingDeclaration(
            "a name that is cut between characters",
            Advertisement(localName: "ééééééééééééééé")
        ),
    ]

    private static let flags = [
        AdvertisingDeclaration("not discoverable", Advertisement(discoverability: .never)),
        AdvertisingDeclaration(
            "not discoverable, and nothing else",
            Advertisement(localName: "", services: [], discoverability: .never)
        ),
        AdvertisingDeclaration(
            "discoverable for a time",
            Advertisement(discoverability: .limited(for: .seconds(60)))
        ),
    ]

    private static let stackAdditions = [
        AdvertisingDeclaration("the power", Advertisement(includes: [.txPower])),
        AdvertisingDeclaration(
            "the power where nothing is discoverable",
            Advertisement(includes: [.txPower], discoverability: .never)
        ),
        AdvertisingDeclaration("the adapter's name", Advertisement(includes: [.localName])),
        AdvertisingDeclaration(
            "the power that has no room",
            Advertisement(services: [], manufacturerData: zeros(22), includes: [.txPower])
        ),
        AdvertisingDeclaration(
            "the power that may have no room",
            Advertisement(
                services: [],
                manufacturerData: zeros(22),
                includes: [.txPower],
                discoverability: .never
            )
        ),
    ]

    private static let limits = [
        AdvertisingDeclaration("31 bytes", Advertisement(services: [], manufacturerData: zeros(24))),
        AdvertisingDeclaration("32 bytes", Advertisement(services: [], manufacturerData: zeros(25))),
        AdvertisingDeclaration(
            "31 bytes without flags",
            Advertisement(services: [], manufacturerData: zeros(27), discoverability: .never)
        ),
        AdvertisingDeclaration(
            "28 bytes without flags",
            Advertisement(services: [], manufacturerData: zeros(24), discoverability: .never)
        ),
        AdvertisingDeclaration("200 bytes", Advertisement(services: [], manufacturerData: zeros(193))),
        AdvertisingDeclaration("244 bytes", Advertisement(services: [], manufacturerData: zeros(237))),
        AdvertisingDeclaration("245 bytes", Advertisement(services: [], manufacturerData: zeros(238))),
        AdvertisingDeclaration("252 bytes", Advertisement(services: [], manufacturerData: zeros(245))),
        AdvertisingDeclaration(
            "40 bytes and a name",
            Advertisement(
                localName: "Pulse",
                services: [0x180D],
                manufacturerData: zeros(29),
                appearance: 0x0340
            )
        ),
        AdvertisingDeclaration(
            "an appearance that has no room",
            Advertisement(services: [custom], manufacturerData: zeros(3), appearance: 0x0340)
        ),
    ]

    private static let channels = [
        AdvertisingDeclaration("the channel 1M", Advertisement(secondaryChannel: .oneM)),
        AdvertisingDeclaration("the channel 2M", Advertisement(secondaryChannel: .twoM)),
        AdvertisingDeclaration("the channel Coded", Advertisement(secondaryChannel: .coded)),
        AdvertisingDeclaration(
            "a channel, not discoverable, with the power",
            Advertisement(includes: [.txPower], discoverability: .never, secondaryChannel: .oneM)
        ),
        AdvertisingDeclaration(
            "a channel and a long name",
            Advertisement(localName: "A name of more than thirty-one bytes in all", secondaryChannel: .oneM)
        ),
    ]

    private static let broadcasts = [
        AdvertisingDeclaration("a broadcast", Advertisement(.broadcast, services: [0x180D])),
        AdvertisingDeclaration(
            "a broadcast without a name",
            Advertisement(.broadcast, localName: "", services: [], manufacturerData: [0x004C: [2, 21]])
        ),
        AdvertisingDeclaration(
            "a broadcast with a scan response",
            Advertisement(.broadcast, services: [], scanResponse: .init(services: [0x180D]))
        ),
    ]

    private static let scanResponses = [
        AdvertisingDeclaration(
            "a scan response with everything",
            Advertisement(
                localName: "Pulse",
                scanResponse: .init(
                    services: [0x180D],
                    solicitedServices: [0x1805],
                    manufacturerData: [0x0059: [1]],
                    serviceData: [0x180F: [1]],
                    rawData: [0x26: [1]]
                )
            )
        ),
        AdvertisingDeclaration(
            "a scan response that cuts the name",
            Advertisement(
                localName: "A name of twenty-nine bytes..",
                scanResponse: .init(services: [0x180D])
            )
        ),
        AdvertisingDeclaration(
            "a scan response of 31 bytes",
            Advertisement(localName: "", scanResponse: .init(manufacturerData: zeros(27)))
        ),
        AdvertisingDeclaration(
            "a scan response of 32 bytes",
            Advertisement(localName: "", scanResponse: .init(manufacturerData: zeros(28)))
        ),
    ]

    private static let timing = [
        AdvertisingDeclaration(
            "an interval, a power and times",
            Advertisement(
                interval: .between(.milliseconds(50), and: .milliseconds(80)),
                transmitPower: .dBm(-4),
                duration: .seconds(1),
                timeout: .seconds(3600)
            )
        )
    ]
}
