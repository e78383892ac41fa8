import PeripheralKit

extension ValidationTests {
    private static func about(
        _ name: String,
        _ advertisements: Advertisement...,
        severity: DeclarationIssue.Severity = .error,
        field: String,
        _ reason: String,
        _ remedy: String
    ) -> Case {
        Case(
            testDescription: "advertising: \(name)",
            peripheral: Peripheral("P") {
                GATTService(0x180F) { Characteristic<UInt8>(0x2A19, value: 1) }
                for advertisement in advertisements { advertisement }
            },
            severity: severity,
            element: field,
            reason: reason,
            remedy: remedy
        )
    }

    private static func zeros(_ count: Int) -> [UInt16: [UInt8]] {
        [0xFFFF: [UInt8](repeating: 0, count: count)]
    }

    private static let seconds = "choose whole seconds, 1 to 65535"

    static let advertisements: [Case] = [
        about(
            "32 bytes",
            Advertisement(services: [], manufacturerData: zeros(25)),
            severity: .warning,
            field: "flags of the advertisement",
            "on a Bluetooth 4 adapter, it ends at byte 32, but there is room for only 31",
            "leave something out, or shorten it"
        ),
        about(
            "40 bytes of manufacturer data, with flags behind them",
            Advertisement(services: [], manufacturerData: zeros(40)),
            severity: .warning,
            field: "manufacturer data 0xffff of the advertisement",
            "on a Bluetooth 4 adapter, it ends at byte 44, but there is room for only 31",
            "leave something out, or shorten it"
        ),
        about(
            "too much for every adapter, with a name behind it",
            Advertisement(localName: "Lamp", services: [], manufacturerData: zeros(260)),
            field: "manufacturer data 0xffff of the advertisement",
            "it ends at byte 264, but there is room for only 251",
            "leave something out, or shorten it"
        ),
        about(
            "too much for every adapter, from different fields on",
            Advertisement(
                services: [],
                manufacturerData: zeros(100),
                serviceData: [0x180F: Array(repeating: 0, count: 150)]
            ),
            field: "service data 180f of the advertisement",
            "it ends at byte 258, but there is room for only 251",
            "leave something out, or shorten it"
        ),
        about(
            "a broadcast that is discoverable",
            Advertisement(.broadcast, services: [], discoverability: .general),
            field: "discoverability of the advertisement",
            "a broadcast cannot be discoverable",
            "leave it out, or make the advertisement .connectable"
        ),
        about(
            "a name of 249 bytes",
            Advertisement(localName: String(repeating: "n", count: 249)),
            field: "local name of the advertisement",
            "it has 249 bytes",
            "use at most 248 bytes of UTF-8"
        ),
        about(
            "two names",
            Advertisement(localName: "A", includes: [.localName]),
            field: "local name of the advertisement",
            "the stack includes one as well",
            "keep one of them"
        ),
        about(
            "the second of two",
            Advertisement(),
            Advertisement(services: [0x180F, 0x1810, 0x180F]),
            field: "services of the advertisement 2",
            "it contains 180f twice",
            "list each UUID once"
        ),
        about(
            "a kind with a property of its own",
            Advertisement(rawData: [0x19: [0x40, 3]]),
            field: "raw data 0x19 of the advertisement",
            "raw data cannot have this type",
            "use appearance: instead"
        ),
        about(
            "empty data",
            Advertisement(services: [], serviceData: [0x180F: []]),
            field: "service data 180f of the advertisement",
            "its data is empty",
            "add at least one byte, or leave it out"
        ),
        about(
            "less than a second",
            Advertisement(timeout: .milliseconds(1500)),
            field: "timeout of the advertisement",
            "1.5 seconds is not possible",
            seconds
        ),
        about(
            "no time",
            Advertisement(duration: .zero),
            field: "duration of the advertisement",
            "0.0 seconds is not possible",
            seconds
        ),
        about(
            "discoverable for too long",
            Advertisement(discoverability: .limited(for: .seconds(65_536))),
            field: "discoverability of the advertisement",
            "65536.0 seconds is not possible",
            seconds
        ),
        about(
            "discoverable for longer than advertised",
            Advertisement(discoverability: .limited(for: .seconds(20)), timeout: .seconds(10)),
            field: "discoverability of the advertisement",
            "it lasts longer than the timeout, which ends both",
            "shorten it, or make it .general"
        ),
        about(
            "an interval that is too short",
            Advertisement(interval: .every(.milliseconds(19))),
            field: "interval of the advertisement",
            "19 ms is not possible",
            "choose 20 to 10485759 ms"
        ),
        about(
            "an interval for Bluetooth 5",
            Advertisement(interval: .every(.seconds(11))),
            severity: .warning,
            field: "interval of the advertisement",
            "on a Bluetooth 4 adapter, it is more than 10240 ms",
            "choose a shorter one"
        ),
        about(
            "a slower interval that is too short",
            Advertisement(slowing: .after(.seconds(30), to: .every(.milliseconds(19)))),
            field: "slower interval of the advertisement",
            "19 ms is not possible",
            "choose 20 to 10485759 ms"
        ),
        about(
            "a slowdown at once",
            Advertisement(slowing: .after(.zero)),
            field: "slowdown of the advertisement",
            "0.0 seconds is not possible",
            "choose a longer time"
        ),
        about(
            "a slower interval for Bluetooth 5",
            Advertisement(slowing: .after(.seconds(30), to: .every(.seconds(11)))),
            severity: .warning,
            field: "interval of the advertisement",
            "on a Bluetooth 4 adapter, it is more than 10240 ms",
            "choose a shorter one"
        ),
        about(
            "an interval that is turned round",
            Advertisement(interval: .between(.seconds(2), and: .seconds(1))),
            field: "interval of the advertisement",
            "its minimum is longer than its maximum",
            "swap the two"
        ),
        about(
            "a power that is too high",
            Advertisement(transmitPower: .dBm(21)),
            field: "transmit power of the advertisement",
            "21 dBm is not possible",
            "choose -127 to 20 dBm"
        ),
        about(
            "a scan response to what has none",
            Advertisement(scanResponse: .init(services: [0x180F]), secondaryChannel: .oneM),
            field: "scan response of the advertisement",
            "a connectable extended advertisement has none",
            "move it into the advertisement, which has room for 251 bytes"
        ),
        about(
            "an include that no stack adds",
            Advertisement(includes: [.appearance]),
            field: "include appearance of the advertisement",
            "no Bluetooth stack adds the appearance",
            "set the value instead, such as appearance: 0x0340"
        ),
    ]
}
