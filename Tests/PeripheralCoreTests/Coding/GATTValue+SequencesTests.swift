import PeripheralCore
import Testing

@Suite(.timeLimit(.minutes(1)))
struct GATTValueSequencesTests {
    @Test(
        arguments: [
            ("", []), ("BPM", [0x42, 0x50, 0x4D]), ("é", [0xC3, 0xA9]),
            ("❤️", [0xE2, 0x9D, 0xA4, 0xEF, 0xB8, 0x8F]),
            ("a\0", [0x61, 0x00]),
        ] as [(String, [UInt8])]
    )
    func textIsUTF8(text: String, bytes: [UInt8]) throws {
        #expect(text.gattBytes == bytes)
        #expect(try String(gattBytes: bytes) == text)
    }

    @Test(
        arguments: [
            [0xFF], [0xC3], [0x80], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
            [0x61, 0xE2, 0x9D],
        ] as [[UInt8]]
    )
    func otherBytesAreNoText(bytes: [UInt8]) {
        let error = #expect(throws: GATTDecodingError.self) { try String(gattBytes: bytes) }
        #expect(error?.code == .invalidValue)
    }

    @Test func bytesAreTheRestOfTheValue() throws {
        #expect(try [UInt8](gattBytes: [1, 2, 3]) == [1, 2, 3])
        #expect([1, 2, 3].gattBytes == [1, 2, 3] as [UInt8])
        var reader = ByteReader([1, 2, 3])
        _ = try reader.read(UInt8.self)
        #expect(try [UInt8](decoding: &reader) == [2, 3])
        #expect(try [UInt8](decoding: &reader) == [])
    }
}
