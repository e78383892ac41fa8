import PeripheralBeacon
import PeripheralKit
import Testing

@Suite(.timeLimit(.minutes(1)))
struct EddystoneTests {
    private func frame(_ advertisement: Advertisement) -> [UInt8]? {
        #expect(advertisement.kind == .broadcast)
        #expect(advertisement.services == [0xFEAA])
        #expect(advertisement.serviceData.count == 1)
        #expect(Peripheral("A name") { advertisement }.validate() == [])
        return advertisement.serviceData[0xFEAA]
    }

    /// Eddystone-UID, "Frame Specification".
    @Test func identifiesABeacon() throws {
        let beacon = try Advertisement.eddystoneUID(
            namespace: bytes("8B0CA750E7A74E14BD99"),
            instance: bytes("0000003A0001"),
            power: -18
        )
        #expect(frame(beacon) == bytes("00 EE 8B0CA750E7A74E14BD99 0000003A0001 0000"))
    }

    @Test(arguments: [
        (9, 6, 0, "The namespace has 9 bytes. Use 10 bytes."),
        (11, 6, 0, "The namespace has 11 bytes. Use 10 bytes."),
        (10, 5, 0, "The instance has 5 bytes. Use 6 bytes."),
        (10, 7, 0, "The instance has 7 bytes. Use 6 bytes."),
        (10, 6, 21, "The power is 21 dBm. Use −100 to 20 dBm."),
        (10, 6, -101, "The power is -101 dBm. Use −100 to 20 dBm."),
    ])
    func refusesImpossibleIdentifiers(namespace: Int, instance: Int, power: Int, message: String) {
        #expect {
            try Advertisement.eddystoneUID(
                namespace: [UInt8](repeating: 1, count: namespace),
                instance: [UInt8](repeating: 2, count: instance),
                power: Int8(power)
            )
        } throws: {
            "\($0)" == message
        }
    }

    /// Eddystone-URL, "URL Scheme Prefix" and "Eddystone-URL HTTP URL encoding".
    @Test(arguments: [
        ("http://www.a", "00 61"), ("https://www.a", "01 61"), ("http://a", "02 61"), ("https://a", "03 61"),
        ("https://a.com/b", "03 61 00 62"), ("https://a.org/", "03 61 01"), ("https://a.edu/", "03 61 02"),
        ("https://a.net/", "03 61 03"), ("https://a.info/", "03 61 04"), ("https://a.biz/", "03 61 05"),
        ("https://a.gov/", "03 61 06"), ("https://a.com", "03 61 07"), ("https://a.org", "03 61 08"),
        ("https://a.edu", "03 61 09"), ("https://a.net", "03 61 0A"), ("https://a.info", "03 61 0B"),
        ("https://a.biz", "03 61 0C"), ("https://a.gov", "03 61 0D"),
        ("https://goo.gl/Aa1", "03 676F6F2E676C2F416131"), ("http://www.", "00"),
        ("https://0123456789.com/01234", "03 30313233343536373839 00 3031323334"),
        ("https://0123456789.com/012345", "03 30313233343536373839 00 303132333435"),
    ])
    func compressesURLs(url: String, encoded: String) throws {
        #expect(frame(try .eddystoneURL(url, power: 4)) == bytes("10 04") + bytes(encoded))
    }

    @Test(arguments: [
        ("ftp://a", "The URL ftp://a does not begin with http:// or https://, which a beacon can send."),
        (
            "https://a b",
            "The URL https://a b contains a space or a character outside of ASCII. Escape it with %."
        ),
        (
            "https://ä",
            "The URL https://ä contains a space or a character outside of ASCII. Escape it with %."
        ),
        (
            "https://0123456789.com/0123456",
            "The URL https://0123456789.com/0123456 needs 18 bytes after its beginning. "
                + "There is room for 17. Use a shorter URL."
        ),
    ])
    func refusesImpossibleURLs(url: String, message: String) {
        #expect {
            try Advertisement.eddystoneURL(url, power: 0)
        } throws: {
            "\($0)" == message
        }
    }

    /// Eddystone-TLM, "Unencrypted TLM frame".
    @Test(
        arguments: [
            (3000, 21.5, 1, .seconds(1), "0BB8 1580 00000001 0000000A"),
            (nil, nil, 0, .zero, "0000 8000 00000000 00000000"),
            (1, -0.5, .max, .milliseconds(150), "0001 FF80 FFFFFFFF 00000001"),
            (1, -1000, 0, .seconds(-1), "0001 8001 00000000 00000000"),
            (1, 1000, 0, .seconds(Int64.max), "0001 7FFF 00000000 FFFFFFFF"),
            (1, .nan, 0, .seconds(429_496_729), "0001 8000 00000000 FFFFFFFA"),
        ] as [(UInt16?, Double?, UInt32, Duration, String)]
    )
    func reportsTelemetry(
        millivolts: UInt16?,
        celsius: Double?,
        count: UInt32,
        uptime: Duration,
        fields: String
    ) {
        let telemetry = EddystoneTelemetry(
            millivolts: millivolts,
            celsius: celsius,
            advertisementCount: count,
            uptime: uptime
        )
        #expect(frame(.eddystoneTLM(telemetry)) == bytes("20 00") + bytes(fields))
    }
}
