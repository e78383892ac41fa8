import PeripheralCore
import Testing

private struct Sample: GATTValue, Equatable {
    var isOn: Bool
    var level: UInt16

    init(isOn: Bool, level: UInt16) {
        self.isOn = isOn
        self.level = level
    }

    init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        isOn = try Bool(decoding: &reader)
        level = try reader.read()
    }

    func encode(into writer: inout ByteWriter) {
        isOn.encode(into: &writer)
        writer.write(level)
    }
}

@Suite(.timeLimit(.minutes(1)))
struct GATTValueTests {
    @Test func aCompositeIsItsPartsInOrder() throws {
        let sample = Sample(isOn: true, level: 0x0203)
        #expect(sample.gattBytes == [1, 3, 2])
        #expect(try Sample(gattBytes: [1, 3, 2]) == sample)
    }

    @Test(
        arguments: [
            ([], .tooShort), ([1, 3], .tooShort), ([2, 3, 2], .invalidValue), ([1, 3, 2, 0], .trailingBytes),
            ([1, 3, 2, 0, 0], .trailingBytes),
        ] as [([UInt8], GATTDecodingError.Code)]
    )
    func otherBytesAreRefused(bytes: [UInt8], code: GATTDecodingError.Code) {
        let error = #expect(throws: GATTDecodingError.self) { try Sample(gattBytes: bytes) }
        #expect(error?.code == code)
    }
}
