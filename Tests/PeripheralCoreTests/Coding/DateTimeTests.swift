import PeripheralCore
import Testing

@Suite(.timeLimit(.minutes(1)))
struct DateTimeTests {
    @Test func sevenBytes() throws {
        let value = try #require(DateTime(year: 2024, month: 2, day: 29, hour: 23, minute: 59, second: 58))
        #expect(value.gattBytes == [0xE8, 0x07, 2, 29, 23, 59, 58])
        #expect(try DateTime(gattBytes: [0xE8, 0x07, 2, 29, 23, 59, 58]) == value)
    }

    @Test func zeroIsNotKnown() throws {
        let value = try DateTime(gattBytes: [0, 0, 0, 0, 0, 0, 0])
        #expect(value == DateTime(year: nil, month: nil, day: nil))
        #expect(value.gattBytes == [0, 0, 0, 0, 0, 0, 0])
        #expect(DateTime(year: 0, month: 1, day: 1) == nil, "not known is nil, not 0")
        #expect(DateTime(year: 2024, month: 0, day: 1) == nil)
        #expect(DateTime(year: 2024, month: 1, day: 0) == nil)
    }

    @Test(
        arguments: [
            (1582, 1, 1, true), (9999, 12, 31, true), (1581, 1, 1, false), (10_000, 1, 1, false),
            (-1, 1, 1, false), (.max, 1, 1, false),
            (2024, 13, 1, false), (2024, -1, 1, false), (2024, 12, 32, false), (2024, 4, 30, true),
            (2024, 4, 31, false),
            (2024, 2, 29, true), (2023, 2, 29, false), (1900, 2, 29, false), (2000, 2, 29, true),
            (nil, 2, 29, true),
            (nil, 2, 30, false), (2023, nil, 31, true), (2023, nil, 32, false), (nil, nil, 31, true),
        ] as [(Int?, Int?, Int?, Bool)]
    )
    func datesThatDoNotExistAreNone(year: Int?, month: Int?, day: Int?, exists: Bool) {
        #expect((DateTime(year: year, month: month, day: day) != nil) == exists)
    }

    @Test(arguments: [
        (0, 0, 0, true), (23, 59, 59, true), (24, 0, 0, false), (0, 60, 0, false), (0, 0, 60, false),
        (-1, 0, 0, false), (0, -1, 0, false), (0, 0, -1, false),
    ])
    func timesThatDoNotExistAreNone(hour: Int, minute: Int, second: Int, exists: Bool) {
        let value = DateTime(year: 2024, month: 1, day: 1, hour: hour, minute: minute, second: second)
        #expect((value != nil) == exists)
    }

    @Test(
        arguments: [
            ([0x2D, 0x06, 1, 1, 0, 0, 0], .invalidValue), ([0x10, 0x27, 1, 1, 0, 0, 0], .invalidValue),
            ([0xE7, 0x07, 2, 29, 0, 0, 0], .invalidValue), ([0xE7, 0x07, 13, 1, 0, 0, 0], .invalidValue),
            ([0xE7, 0x07, 1, 1, 24, 0, 0], .invalidValue), ([0xE7, 0x07, 1, 1, 0, 0], .tooShort),
            ([0xE7, 0x07, 1, 1, 0, 0, 0, 0], .trailingBytes),
        ] as [([UInt8], GATTDecodingError.Code)]
    )
    func otherBytesAreRefused(bytes: [UInt8], code: GATTDecodingError.Code) {
        let error = #expect(throws: GATTDecodingError.self) { try DateTime(gattBytes: bytes) }
        #expect(error?.code == code)
    }
}
