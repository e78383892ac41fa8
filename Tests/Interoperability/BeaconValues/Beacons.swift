import PeripheralBeacon
import PeripheralKit

extension BeaconValues {
    /// Prints iBeacon and Eddystone advertisements in the words of `beacontools`.
    static func printBeacons() throws {
        for (major, minor, power) in [(0, 0, -128), (1, 0x0203, -59), (0xFFFF, 0xFFFE, 127)] {
            show(
                "ibeacon",
                .iBeacon(
                    uuid: "e2c56db5-dffb-48d2-b060-d0f5a71096e0",
                    major: UInt16(major),
                    minor: UInt16(minor),
                    measuredPower: Int8(power)
                ),
                #""uuid": "e2c56db5-dffb-48d2-b060-d0f5a71096e0", "major": \#(major), "#
                    + #""minor": \#(minor), "tx_power": \#(power)"#
            )
        }
        for power in [-100, -20, 20] as [Int8] {
            show(
                "eddystone-uid",
                try .eddystoneUID(
                    namespace: [0x12, 0x34, 0x56, 0x78, 0x90, 0x12, 0x34, 0x67, 0x89, 0x01],
                    instance: [0, 0, 0, 0, 0x3A, 0xF1],
                    power: power
                ),
                #""namespace": "12345678901234678901", "instance": "000000003af1", "tx_power": \#(power)"#
            )
        }
        for url in urls {
            show("eddystone-url", try .eddystoneURL(url, power: -20), #""url": "\#(url)", "tx_power": -20"#)
        }
        for (millivolts, celsius, count, tenths) in telemetry {
            show(
                "eddystone-tlm",
                .eddystoneTLM(
                    EddystoneTelemetry(
                        millivolts: millivolts,
                        celsius: celsius,
                        advertisementCount: count,
                        uptime: .milliseconds(Int64(tenths) * 100)
                    )
                ),
                #""voltage": \#(millivolts), "temperature": \#(celsius), "advertising_count": \#(count), "#
                    + #""seconds_since_boot": \#(tenths)"#
            )
        }
    }

    private static let urls = [
        "http://www.example.com/", "https://www.example.org", "http://a.edu/b.net", "https://goo.gl/Aa1~!",
        "https://x.info/.biz/.gov/", "https://x.biz.com.org/", "http://info.gov",
    ]

    private static let telemetry: [(UInt16, Double, UInt32, UInt32)] = [
        (3000, 21.5, 1, 10), (0xFFFF, 127.99609375, .max, .max), (1, 0.00390625, 0x0102_0304, 0x0506_0708),
    ]
}
