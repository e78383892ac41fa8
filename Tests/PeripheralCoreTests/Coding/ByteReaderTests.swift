import PeripheralCore
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ByteReaderTests {
    @Test func integersAreLittleEndian() throws {
        var reader = ByteReader([0x01, 0x02, 0x03, 0xFF, 0xFE, 0xFF, 0x04, 0x05, 0x06, 0x07])
        #expect(try reader.read(UInt8.self) == 0x01)
        #expect(try reader.read(UInt16.self) == 0x0302)
        #expect(try reader.read(Int8.self) == -1)
        #expect(try reader.read(Int16.self) == -2)
        #expect(reader.remainingCount == 4)
        #expect(try reader.read() as UInt32 == 0x0706_0504)
        #expect(reader.isAtEnd)
    }

    @Test func theWidestIntegersAreRead() throws {
        var reader = ByteReader([UInt8](0..<24))
        #expect(try reader.read(UInt64.self) == 0x0706_0504_0302_0100)
        #expect(try reader.read(UInt128.self) == 0x1716_1514_1312_1110_0f0e_0d0c_0b0a_0908)
    }

    @Test func nothingIsReadPastTheEnd() throws {
        var reader = ByteReader([1, 2, 3])
        #expect(throws: GATTDecodingError.self) { try reader.read(UInt32.self) }
        #expect(throws: GATTDecodingError.self) { try reader.readBytes(4) }
        #expect(throws: GATTDecodingError.self) { try reader.readBytes(-1) }
        #expect(throws: GATTDecodingError.self) { try reader.readBytes(.max) }
        #expect(reader.remainingCount == 3, "a refused read must not move the reader")
        #expect(try reader.readBytes(0) == [])
        #expect(try reader.readBytes(2) == [1, 2])
        #expect(throws: GATTDecodingError.self) { try reader.readUInt24() }
        #expect(reader.readRemaining() == [3])
        #expect(reader.readRemaining() == [])
    }

    @Test func tooFewBytesAreSaid() {
        var reader = ByteReader([1])
        let error = #expect(throws: GATTDecodingError.self) { try reader.read(UInt16.self) }
        #expect(error?.code == .tooShort)
        #expect(error?.message == "the value needs 2 bytes, but 1 remain")
    }

    @Test func aSliceIsReadFromItsOwnStart() throws {
        var reader = ByteReader([9, 9, 1, 2, 9][2..<4])
        #expect(reader.remainingCount == 2)
        #expect(try reader.read(UInt16.self) == 0x0201)
        #expect(reader.isAtEnd)
    }
}
