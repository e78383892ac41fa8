import PeripheralCore
import Testing

@Suite(.timeLimit(.minutes(1)))
struct AttributeTableValuesTests {
    private static let services = [
        ServiceDescription(
            uuid: .battery,
            characteristics: [CharacteristicDescription(uuid: .batteryLevel, properties: [.read, .notify])]
        ),
        ServiceDescription(uuid: "00112233-4455-6677-8899-aabbccddeeff"),
        ServiceDescription(
            uuid: 0x1234_5678,
            includedServices: [0, 1],
            characteristics: [
                CharacteristicDescription(
                    uuid: "00112233-4455-6677-8899-aabbccddeeff",
                    properties: [.write, .reliableWrite],
                    descriptors: [DescriptorDescription(uuid: .characteristicUserDescription)]
                )
            ]
        ),
    ]

    private static let vendor: [UInt8] = [
        0xFF, 0xEE, 0xDD, 0xCC, 0xBB, 0xAA, 0x99, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0x00,
    ]

    @Test(
        arguments: [
            (0x0001, [0x0F, 0x18]),
            (0x0002, [0x12, 0x03, 0x00, 0x19, 0x2A]),
            (0x0003, nil),
            (0x0004, nil),
            (0x0005, vendor),
            (
                0x0006,
                [
                    0xFB, 0x34, 0x9B, 0x5F, 0x80, 0x00, 0x00, 0x80, 0x00, 0x10, 0x00, 0x00, 0x78, 0x56, 0x34,
                    0x12,
                ]
            ),
            (0x0007, [0x01, 0x00, 0x04, 0x00, 0x0F, 0x18]),
            (0x0008, [0x05, 0x00, 0x05, 0x00]),
            (0x0009, [0x88, 0x0A, 0x00] + vendor),
            (0x000A, nil),
            (0x000B, [0x01, 0x00]),
            (0x000C, nil),
            (0x000D, nil),
        ] as [(AttributeHandle, [UInt8]?)]
    )
    func declarationsHoldWhatCentralsDiscover(handle: AttributeHandle, value: [UInt8]?) throws {
        let table = try AttributeTable(services: Self.services)
        #expect(table.handles == 0x0001...0x000C)
        #expect(table.fixedValue(of: handle) == value)
    }
}
