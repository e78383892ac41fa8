import PeripheralDeviceInformation
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct DeviceInformationServiceTests {
    @Test func declaresEverythingThatIsGiven() async throws {
        let service = DeviceInformationService(
            manufacturerName: "Example Works",
            modelNumber: "S-1",
            serialNumber: "4711",
            hardwareRevision: "B",
            firmwareRevision: "1.0.2",
            softwareRevision: "1.1",
            systemID: SystemID(eui64: 0x1234_56FF_FE9A_BCDE),
            regulatoryCertificationData: [0x00, 0x02, 0x00, 0x12],
            pnpID: PnPID(vendor: .usb(0x1234), product: 0x5678, version: 0x0102)
        )
        let expected: [(BluetoothUUID, [UInt8])] = [
            (0x2A29, Array("Example Works".utf8)),
            (0x2A24, Array("S-1".utf8)),
            (0x2A25, Array("4711".utf8)),
            (0x2A27, Array("B".utf8)),
            (0x2A26, Array("1.0.2".utf8)),
            (0x2A28, Array("1.1".utf8)),
            (0x2A23, [0xDE, 0xBC, 0x9A, 0xFE, 0xFF, 0x56, 0x34, 0x12]),
            (0x2A2A, [0x00, 0x02, 0x00, 0x12]),
            (0x2A50, [0x02, 0x34, 0x12, 0x78, 0x56, 0x02, 0x01]),
        ]
        try await Peripheral("Sensor") { service }.test { central in
            let database = try await central.discover()
            #expect(
                database.declared
                    == expected.map { uuid, _ in
                        DeclaredCharacteristic(service: 0x180A, uuid: uuid, properties: .read)
                    }
            )
            let found = database.applicationServices.flatMap(\.characteristics)
            for (characteristic, (uuid, bytes)) in zip(found, expected) {
                #expect(try await central.readLong(characteristic.valueHandle) == bytes, "\(uuid)")
            }
        }
    }

    @Test func declaresNothingElse() async throws {
        let service = DeviceInformationService(modelNumber: "S-1")
        let modelNumber = try #require(service.modelNumber)
        #expect(service.manufacturerName == nil)
        #expect(service.pnpID == nil)
        try await Peripheral("Sensor") { service }.test { central in
            let declared = try await central.discover().declared
            #expect(
                declared == [
                    DeclaredCharacteristic(service: 0x180A, uuid: 0x2A24, properties: .read)
                ]
            )
            #expect(try await central.read(modelNumber) == "S-1")
        }
    }

    @Test func refusesATextThatNoAttributeHolds() {
        let peripheral = Peripheral("Sensor") {
            DeviceInformationService(modelNumber: String(repeating: "x", count: 513))
        }
        #expect(peripheral.validate().map(\.severity) == [.error])
    }
}

@Suite(.timeLimit(.minutes(1)))
struct DeviceIdentifierTests {
    /// Bytes by hand, after Device Information Service 1.1, sections 3.7 and 3.9.
    @Test(
        arguments: [
            (PnPID(vendor: .bluetooth(0x0059), product: 1, version: 0x1000), [1, 0x59, 0, 1, 0, 0x00, 0x10]),
            (PnPID(vendor: .usb(0xFFFE), product: 0x0203, version: 0), [2, 0xFE, 0xFF, 3, 2, 0, 0]),
        ] as [(PnPID, [UInt8])]
    )
    func pnpIDHasSevenBytes(identifier: PnPID, bytes: [UInt8]) throws {
        #expect(identifier.gattBytes == bytes)
        #expect(try PnPID(gattBytes: bytes) == identifier)
    }

    @Test(
        arguments: [
            ([], .tooShort), ([1, 0, 0, 0, 0, 0], .tooShort), ([1, 0, 0, 0, 0, 0, 0, 0], .trailingBytes),
            ([0, 0, 0, 0, 0, 0, 0], .invalidValue), ([3, 0, 0, 0, 0, 0, 0], .invalidValue),
        ] as [([UInt8], GATTDecodingError.Code)]
    )
    func pnpIDRefuses(bytes: [UInt8], code: GATTDecodingError.Code) {
        let error = #expect(throws: GATTDecodingError.self) { try PnPID(gattBytes: bytes) }
        #expect(error?.code == code)
    }

    @Test func systemIDHasEightBytes() throws {
        let bytes: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
        #expect(try SystemID(gattBytes: bytes).eui64 == 0x0807_0605_0403_0201)
        #expect(SystemID(eui64: 0x0807_0605_0403_0201).gattBytes == bytes)
        for count in [0, 7, 9] {
            #expect(throws: GATTDecodingError.self) {
                try SystemID(gattBytes: [UInt8](repeating: 0, count: count))
            }
        }
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func decodersEndWhateverTheyRead(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            let bytes = generator.bytes(count: Int.random(in: 0...9, using: &generator))
            if let identifier = try? PnPID(gattBytes: bytes) {
                try #require(identifier.gattBytes == bytes, "seed \(seed)")
            }
            if let identifier = try? SystemID(gattBytes: bytes) {
                try #require(identifier.gattBytes == bytes, "seed \(seed)")
            }
        }
    }
}
