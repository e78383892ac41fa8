import PeripheralCore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct DeviceAddressTests {
    @Test func textNumberAndBytesAgree() throws {
        let address = try #require(DeviceAddress("c0:FF:ee:00:00:01"))
        #expect(address.rawValue == 0xC0FF_EE00_0001)
        #expect(address.description == "C0:FF:EE:00:00:01")
        #expect(address.littleEndianBytes == [0x01, 0x00, 0x00, 0xEE, 0xFF, 0xC0])
        #expect(DeviceAddress(rawValue: 0xC0FF_EE00_0001) == address)
        #expect(DeviceAddress(littleEndian: [0x01, 0x00, 0x00, 0xEE, 0xFF, 0xC0]) == address)
    }

    @Test(arguments: [
        "", "C0:FF:EE:00:00", "C0:FF:EE:00:00:01:", "C0-FF-EE-00-00-01", "C0FFEE000001", "C0:FF:EE:00:00:0",
        "C0:FF:EE:00:00:0G", "C0:FF:EE:00:000:1", " C0:FF:EE:00:00:01", ":::::::::::::::::",
        "é0:FF:EE:00:00:01",
    ])
    func otherTextIsNone(text: String) {
        #expect(DeviceAddress(text) == nil)
    }

    @Test func otherSizesAreNone() {
        #expect(DeviceAddress(rawValue: 0xFFFF_FFFF_FFFF) != nil)
        #expect(DeviceAddress(rawValue: 0x1_0000_0000_0000) == nil)
        #expect(DeviceAddress(littleEndian: [UInt8](repeating: 0, count: 5)) == nil)
        #expect(DeviceAddress(littleEndian: [UInt8](repeating: 0, count: 7)) == nil)
    }

    @Test(
        arguments: [
            ("C0:00:00:00:00:00", .static), ("FF:FF:FF:FF:FF:FF", .static),
            ("40:00:00:00:00:00", .resolvable), ("7F:FF:FF:FF:FF:FF", .resolvable),
            ("00:00:00:00:00:00", .nonResolvable), ("3F:FF:FF:FF:FF:FF", .nonResolvable),
            ("80:00:00:00:00:00", nil), ("BF:FF:FF:FF:FF:FF", nil),
        ] as [(String, DeviceAddress.RandomKind?)]
    )
    func theTopBitsTellTheKind(text: String, kind: DeviceAddress.RandomKind?) throws {
        #expect(try #require(DeviceAddress(text)).randomKind == kind)
    }

    @Test(arguments: [1, 2] as [UInt64])
    func textComesBackInOrder(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let addresses = (0..<10_000).compactMap { _ in DeviceAddress(littleEndian: generator.bytes(count: 6))
        }
        #expect(addresses.count == 10_000)
        #expect(addresses.map(\.description).compactMap(DeviceAddress.init) == addresses)
        #expect(addresses.sorted().map(\.description) == addresses.map(\.description).sorted())
    }
}
