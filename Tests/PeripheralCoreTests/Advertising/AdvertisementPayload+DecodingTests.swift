import PeripheralCore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct AdvertisementPayloadDecodingTests {
    private func payload(_ bytes: [UInt8], _ scanResponse: [UInt8] = []) -> AdvertisementPayload {
        AdvertisementPayload(
            advertisingData: AdvertisingData(decoding: bytes),
            scanResponse: AdvertisingData(decoding: scanResponse)
        )
    }

    private static let custom: BluetoothUUID = "5c3a0001-7c1e-4b39-9d3e-0a4d2f6b8c11"
    private static let customBytes: [UInt8] = [
        0x11, 0x8C, 0x6B, 0x2F, 0x4D, 0x0A, 0x3E, 0x9D, 0x39, 0x4B, 0x1E, 0x7C, 0x01, 0x00, 0x3A, 0x5C,
    ]

    @Test func everyFieldIsTaken() {
        let received = payload(
            [3, 0x03, 0x0F, 0x18, 5, 0x05, 0x78, 0x56, 0x34, 0x12, 17, 0x07] + Self.customBytes
                + [5, 0xFF, 0x59, 0x00, 1, 2, 3, 0xFF, 0xFF, 0xFF, 4, 0x16, 0x0F, 0x18, 99]
                + [5, 0x20, 0x78, 0x56, 0x34, 0x12, 18, 0x21] + Self.customBytes
                + [1, 3, 0x19, 0x40, 0x03, 2, 0x01, 0x06, 2, 0x0A, 0x81],
            [6, 0x09, 0x4C, 0xC3, 0xA4, 0x6D, 0x70]
        )
        let sent = AdvertisementPayload(
            flags: [.generalDiscoverable, .classicNotSupported],
            localName: "Lämp",
            services: [.battery, 0x1234_5678, Self.custom],
            manufacturerData: [0x0059: [1, 2], 0xFFFF: []],
            serviceData: [.battery: [99], 0x1234_5678: [], Self.custom: [1]],
            appearance: 0x0340,
            txPower: -127
        )
        #expect(received == sent)
        #expect(!received.isLocalNameShortened)
    }

    @Test func aCompleteNameCountsBeforeAShortenedOne() {
        let both = payload([2, 0x08, 0x41], [3, 0x09, 0x41, 0x42])
        #expect(both.localName == "AB")
        #expect(!both.isLocalNameShortened)
        let reversed = payload([3, 0x09, 0x41, 0x42], [2, 0x08, 0x41])
        #expect(reversed.localName == "AB")
        #expect(!reversed.isLocalNameShortened)
        let short = payload([2, 0x08, 0x41, 2, 0x08, 0x42])
        #expect(short.localName == "A")
        #expect(short.isLocalNameShortened)
    }

    @Test func aNameCutInsideACharacterIsShown() {
        #expect(payload([3, 0x08, 0x41, 0xC3]).localName == "A\u{FFFD}")
    }

    @Test func listsOfServicesAreJoined() {
        let services = payload([3, 0x02, 0x0D, 0x18], [5, 0x03, 0x0F, 0x18, 0x0D, 0x18]).services
        #expect(services == [.heartRate, .battery])
    }

    @Test(
        arguments: [
            [1, 0x01], [4, 0x03, 0x0D, 0x18, 0x0F], [3, 0x05, 0x0D, 0x18], [3, 0x07, 0x0D, 0x18], [1, 0x09],
            [1, 0x0A],
            [3, 0x0A, 1, 2], [2, 0x19, 1], [4, 0x19, 1, 2, 3], [2, 0xFF, 1], [2, 0x16, 1], [3, 0x20, 1, 2],
            [5, 0x21, 1, 2, 3, 4], [3, 0x99, 1, 2], [3, 0x00, 1, 2],
        ] as [[UInt8]]
    )
    func malformedStructuresArePassedOver(bytes: [UInt8]) {
        #expect(payload(bytes) == AdvertisementPayload())
        #expect(payload(bytes + [3, 0x19, 0x40, 0x03]) == AdvertisementPayload(appearance: 0x0340))
    }

    @Test func theFirstOfAFieldCounts() {
        let first = payload(
            [2, 0x01, 6, 3, 0x19, 1, 0, 2, 0x0A, 1, 4, 0xFF, 1, 0, 1, 4, 0x16, 1, 0, 1],
            [2, 0x01, 4, 3, 0x19, 2, 0, 2, 0x0A, 2, 4, 0xFF, 1, 0, 2, 4, 0x16, 1, 0, 2]
        )
        #expect(first.flags?.rawValue == 6)
        #expect(first.appearance == 1)
        #expect(first.txPower == 1)
        #expect(first.manufacturerData == [1: [1]])
        #expect(first.serviceData == [0x0001: [1]])
    }

    @Test(arguments: [31, 32] as [UInt64])
    func whatIsReceivedIsTheSameAgain(seed: UInt64) {
        let types: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 0x0A, 0x16, 0x19, 0x20, 0x21, 0xFF, 0x99]
        var generator = SeededGenerator(seed: seed)
        var structureCount = 0
        for _ in 0..<fuzzInputCount {
            var input: [UInt8] = []
            while input.count < 31 {
                let count = [1, 2, 4, 5, 8, 16, 17].randomElement(using: &generator) ?? 1
                input += [UInt8(count + 1), types.randomElement(using: &generator) ?? 1]
                input += generator.bytes(count: count)
            }
            let bytes = Array(input.prefix(31))
            let scanResponse = generator.plausibleBytes(count: 31)
            let data = AdvertisingData(decoding: bytes)
            structureCount += data.structures.count
            // What a scanner drops at the end of its bytes carries no field.
            if payload(data.bytes, scanResponse) != payload(bytes, scanResponse) {
                Issue.record("\(input), seed \(seed)")
            }
        }
        #expect(structureCount > 0)
    }
}
