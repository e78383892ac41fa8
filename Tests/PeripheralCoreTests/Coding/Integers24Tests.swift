import PeripheralCore
import Testing

@Suite(.timeLimit(.minutes(1)))
struct Integers24Tests {
    @Test(
        arguments: [
            (0, [0, 0, 0]), (1, [1, 0, 0]), (0x12_3456, [0x56, 0x34, 0x12]), (0xFF_FFFF, [0xFF, 0xFF, 0xFF]),
        ] as [(UInt32, [UInt8])]
    )
    func unsigned(number: UInt32, bytes: [UInt8]) throws {
        let value = try #require(UInt24(rawValue: number))
        #expect(value.gattBytes == bytes)
        #expect(try UInt24(gattBytes: bytes) == value)
    }

    @Test(
        arguments: [
            (0, [0, 0, 0]), (1, [1, 0, 0]), (-1, [0xFF, 0xFF, 0xFF]), (-0x80_0000, [0, 0, 0x80]),
            (0x7F_FFFF, [0xFF, 0xFF, 0x7F]), (-0x12_3456, [0xAA, 0xCB, 0xED]),
        ] as [(Int32, [UInt8])]
    )
    func signed(number: Int32, bytes: [UInt8]) throws {
        let value = try #require(Int24(rawValue: number))
        #expect(value.gattBytes == bytes)
        #expect(try Int24(gattBytes: bytes) == value)
    }

    @Test func whatNeedsMoreBitsIsNoValue() {
        #expect(UInt24(rawValue: 0x100_0000) == nil)
        #expect(Int24(rawValue: 0x80_0000) == nil)
        #expect(Int24(rawValue: -0x80_0001) == nil)
        #expect(UInt24(clamping: -1) == .min)
        #expect(UInt24(clamping: Int64.max) == .max)
        #expect(UInt24(clamping: 7).rawValue == 7)
        #expect(Int24(clamping: Int64.min) == .min)
        #expect(Int24(clamping: UInt64.max) == .max)
        #expect(Int24(clamping: -7).rawValue == -7)
    }
}
