import PeripheralCore
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ByteWriterTests {
    @Test func integersAreLittleEndian() throws {
        var writer = ByteWriter()
        writer.reserve(20)
        #expect(writer.bytes == [])
        writer.write(0x01 as UInt8)
        writer.write(-2 as Int16)
        writer.write(0x0403_0201 as UInt32)
        writer.write(try #require(UInt24(rawValue: 0x03_0201)))
        writer.write(try #require(Int24(rawValue: -2)))
        #expect(writer.bytes == [0x01, 0xFE, 0xFF, 1, 2, 3, 4, 1, 2, 3, 0xFE, 0xFF, 0xFF])
    }

    @Test func bytesStayInOrder() {
        var writer = ByteWriter()
        writer.write([] as [UInt8])
        writer.write([1, 2])
        writer.write([3])
        writer.write([9, 4, 5].dropFirst())
        writer.write("a".utf8)
        #expect(writer.bytes == [1, 2, 3, 4, 5, 0x61])
    }
}
