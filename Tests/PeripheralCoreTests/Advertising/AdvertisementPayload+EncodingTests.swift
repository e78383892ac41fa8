import PeripheralCore
import Testing

@Suite(.timeLimit(.minutes(1)))
struct AdvertisementPayloadEncodingTests {
    @Test func aHeartRateSensor() throws {
        let encoded = try AdvertisementPayload(
            flags: [.generalDiscoverable, .classicNotSupported],
            localName: "Pulse",
            services: [.heartRate, .battery],
            appearance: 0x0340
        ).encoded()
        #expect(
            encoded.advertisingData.bytes == [
                5, 0x03, 0x0D, 0x18, 0x0F, 0x18, 3, 0x19, 0x40, 0x03, 2, 0x01, 0x06,
            ]
        )
        #expect(encoded.scanResponse.bytes == [6, 0x09] + Array("Pulse".utf8))
    }

    @Test func fieldsStandInTheOrderOfBlueZ() throws {
        let vendor: BluetoothUUID = "5c3a0001-7c1e-4b39-9d3e-0a4d2f6b8c11"
        let encoded = try AdvertisementPayload(
            flags: .generalDiscoverable,
            services: [vendor, 0x1234_5678, .battery],
            manufacturerData: [0x0100: [1], 0x0059: [2, 3]],
            serviceData: [vendor: [4], .battery: [5], 0x1234_5678: []],
            appearance: 1,
            txPower: -4
        ).encoded(within: AdvertisingBudget(advertisingData: 100, scanResponse: 0))
        #expect(
            encoded.advertisingData.structures.map(\.type) == [
                .services16, .services32, .services128, .manufacturerData, .manufacturerData, .serviceData16,
                .serviceData32, .serviceData128, .appearance, .flags, .txPowerLevel,
            ]
        )
        let manufacturerData = encoded.advertisingData.structures.filter { $0.type == .manufacturerData }
        #expect(manufacturerData.map(\.data) == [[0x59, 0x00, 2, 3], [0x00, 0x01, 1]])
        #expect(encoded.advertisingData[.services32] == [0x78, 0x56, 0x34, 0x12])
        #expect(encoded.advertisingData[.serviceData128] == vendor.littleEndianBytes + [4])
        #expect(encoded.advertisingData[.txPowerLevel] == [0xFC])
        #expect(encoded.scanResponse.bytes == [])
    }

    /// 29 bytes of a name fit beside the length and the type.
    @Test(arguments: [
        (String(repeating: "x", count: 29), String(repeating: "x", count: 29), true),
        (String(repeating: "x", count: 30), String(repeating: "x", count: 29), false),
        (String(repeating: "é", count: 14), String(repeating: "é", count: 14), true),
        (String(repeating: "é", count: 15), String(repeating: "é", count: 14), false),
        (String(repeating: "x", count: 28) + "❤️", String(repeating: "x", count: 28), false),
        (String(repeating: "x", count: 27) + "e\u{301}", String(repeating: "x", count: 27), false),
    ])
    func aLongNameIsCutBetweenCharacters(name: String, sent: String, isComplete: Bool) throws {
        let encoded = try AdvertisementPayload(localName: name).encoded()
        #expect(
            encoded.scanResponse[isComplete ? .completeLocalName : .shortenedLocalName] == Array(sent.utf8)
        )
        #expect(encoded.scanResponse.structures.count == 1)
        #expect(encoded.scanResponse.byteCount <= 31)
        #expect(encoded.advertisingData.bytes == [])
    }

    @Test(arguments: [nil, ""])
    func noNameIsNotSent(name: String?) throws {
        #expect(try AdvertisementPayload(localName: name).encoded().scanResponse.bytes == [])
    }

    @Test(arguments: [26, 27] as [Int])
    func manufacturerDataHasRoomFor27Bytes(count: Int) throws {
        let payload = AdvertisementPayload(manufacturerData: [0x0059: [UInt8](repeating: 1, count: count)])
        #expect(try payload.encoded().advertisingData.byteCount == count + 4)
    }

    @Test(
        arguments: [
            (
                AdvertisementPayload(manufacturerData: [0x0059: [UInt8](repeating: 1, count: 28)]),
                .manufacturerData(0x0059), 1
            ),
            (
                AdvertisementPayload(
                    flags: .generalDiscoverable,
                    services: [.heartRate],
                    manufacturerData: [1: [UInt8](repeating: 1, count: 23)]
                ), .flags, 3
            ),
            (
                AdvertisementPayload(
                    flags: .generalDiscoverable,
                    services: [.heartRate],
                    manufacturerData: [1: [UInt8](repeating: 1, count: 24)]
                ), .manufacturerData(1), 4
            ),
            (
                AdvertisementPayload(services: [
                    "5c3a0001-7c1e-4b39-9d3e-0a4d2f6b8c11", "5c3a0002-7c1e-4b39-9d3e-0a4d2f6b8c11",
                ]), .services, 3
            ),
            (
                AdvertisementPayload(serviceData: [.battery: [UInt8](repeating: 1, count: 30)]),
                .serviceData(.battery), 3
            ),
            (
                AdvertisementPayload(
                    manufacturerData: [1: [UInt8](repeating: 1, count: 25)],
                    appearance: 1,
                    txPower: 1
                ), .appearance, 5
            ),
            (
                AdvertisementPayload(manufacturerData: [1: [UInt8](repeating: 1, count: 25)], txPower: 1),
                .txPower, 1
            ),
        ] as [(AdvertisementPayload, AdvertisingField, Int)]
    )
    func theErrorNamesTheFieldAndTheBytes(payload: AdvertisementPayload, field: AdvertisingField, over: Int) {
        let error = #expect(throws: AdvertisingBudgetError.self) { try payload.encoded() }
        #expect(error == AdvertisingBudgetError(field: field, bytesOver: over, capacity: 31))
        let text =
            "it takes \(31 + over) bytes, \(over) more than fit; the first part without room is the \(field)"
        #expect(error?.description == text)
    }

    @Test func aNameNeedsRoomForOneCharacter() {
        let budget = AdvertisingBudget(advertisingData: 31, scanResponse: 4)
        let error = #expect(throws: AdvertisingBudgetError.self) {
            try AdvertisementPayload(localName: "❤️").encoded(within: budget)
        }
        #expect(error == AdvertisingBudgetError(field: .localName, bytesOver: 4, capacity: 4))
    }

    @Test func aStructureIsNeverLongerThanItsLengthCanTell() {
        let budget = AdvertisingBudget(advertisingData: 1000, scanResponse: 1000)
        let error = #expect(throws: AdvertisingBudgetError.self) {
            try AdvertisementPayload(manufacturerData: [1: [UInt8](repeating: 1, count: 300)])
                .encoded(within: budget)
        }
        #expect(error == AdvertisingBudgetError(field: .manufacturerData(1), bytesOver: 48, capacity: 1000))
        let name = String(repeating: "x", count: 300)
        let encoded = try? AdvertisementPayload(localName: name).encoded(within: budget)
        #expect(encoded?.scanResponse[.shortenedLocalName]?.count == 254)
    }

    @Test(arguments: [0, -1, Int.min])
    func aBudgetOfNothingHoldsNothing(bytes: Int) throws {
        let budget = AdvertisingBudget(advertisingData: bytes, scanResponse: bytes)
        #expect(try AdvertisementPayload().encoded(within: budget).advertisingData.bytes == [])
        #expect(throws: AdvertisingBudgetError.self) {
            try AdvertisementPayload(appearance: 1).encoded(within: budget)
        }
        #expect(throws: AdvertisingBudgetError.self) {
            try AdvertisementPayload(localName: "x").encoded(within: budget)
        }
    }
}
