import PeripheralCore
import Testing

@Suite(.timeLimit(.minutes(1)))
struct GATTValueNumbersTests {
    private func expectRoundTrip<Value: GATTValue & Equatable>(_ value: Value, _ bytes: [UInt8]) throws {
        #expect(value.gattBytes == bytes)
        #expect(try Value(gattBytes: bytes) == value)
        for count in 0..<bytes.count {
            let error = #expect(throws: GATTDecodingError.self) {
                try Value(gattBytes: Array(bytes.prefix(count)))
            }
            #expect(error?.code == .tooShort)
        }
        let error = #expect(throws: GATTDecodingError.self) { try Value(gattBytes: bytes + [0]) }
        #expect(error?.code == .trailingBytes)
    }

    @Test func unsignedIntegers() throws {
        try expectRoundTrip(0xFE as UInt8, [0xFE])
        try expectRoundTrip(0xFEDC as UInt16, [0xDC, 0xFE])
        try expectRoundTrip(0xFEDC_BA98 as UInt32, [0x98, 0xBA, 0xDC, 0xFE])
        try expectRoundTrip(
            0xFEDC_BA98_7654_3210 as UInt64,
            [0x10, 0x32, 0x54, 0x76, 0x98, 0xBA, 0xDC, 0xFE]
        )
        try expectRoundTrip(UInt64.max, [UInt8](repeating: 0xFF, count: 8))
        try expectRoundTrip(UInt64.min, [UInt8](repeating: 0, count: 8))
    }

    @Test func signedIntegers() throws {
        try expectRoundTrip(-2 as Int8, [0xFE])
        try expectRoundTrip(Int8.min, [0x80])
        try expectRoundTrip(-2 as Int16, [0xFE, 0xFF])
        try expectRoundTrip(Int16.max, [0xFF, 0x7F])
        try expectRoundTrip(-2 as Int32, [0xFE, 0xFF, 0xFF, 0xFF])
        try expectRoundTrip(Int32.min, [0, 0, 0, 0x80])
        try expectRoundTrip(-2 as Int64, [0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])
        try expectRoundTrip(Int64.min, [0, 0, 0, 0, 0, 0, 0, 0x80])
    }

    @Test func binaryFloatingPoint() throws {
        try expectRoundTrip(-1.5 as Float, [0, 0, 0xC0, 0xBF])
        try expectRoundTrip(Float.infinity, [0, 0, 0x80, 0x7F])
        try expectRoundTrip(-1.5 as Double, [0, 0, 0, 0, 0, 0, 0xF8, 0xBF])
        #expect(try Double(gattBytes: Double.nan.gattBytes).isNaN)
    }

    @Test func booleans() throws {
        try expectRoundTrip(false, [0])
        try expectRoundTrip(true, [1])
        for byte in 2...UInt8.max {
            let error = #expect(throws: GATTDecodingError.self) { try Bool(gattBytes: [byte]) }
            #expect(error?.code == .invalidValue)
        }
    }
}
