/// Takes bytes apart, from the first to the last.
///
/// Nothing is read past the end: what is not there throws ``GATTDecodingError/Code/tooShort``, and the reader
/// stays where it was.
public struct ByteReader: Sendable {
    private let bytes: [UInt8]
    private var position = 0

    /// Begins at the first of these bytes.
    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// How many bytes have not been read yet.
    public var remainingCount: Int {
        bytes.count - position
    }

    /// Reads an integer, the least significant byte first.
    public mutating func read<Integer: FixedWidthInteger>(
        _ type: Integer.Type = Integer.self
    ) throws(GATTDecodingError) -> Integer {
        let unsigned = try readUnsigned(byteCount: Integer.bitWidth / 8)
        return Integer(truncatingIfNeeded: unsigned)
    }

    /// Reads an unsigned integer of 1 to 8 bytes, such as the 24 bits that Swift has no type for.
    public mutating func readUnsigned(byteCount: Int) throws(GATTDecodingError) -> UInt64 {
        precondition((1...8).contains(byteCount), "an integer has 1 to 8 bytes")
        try require(byteCount)
        var value: UInt64 = 0
        for index in (position..<position + byteCount).reversed() {
            value = value << 8 | UInt64(bytes[index])
        }
        position += byteCount
        return value
    }

    /// Reads a signed integer of 1 to 8 bytes in two's complement.
    public mutating func readSigned(byteCount: Int) throws(GATTDecodingError) -> Int64 {
        let unused = 64 - 8 * byteCount
        return Int64(bitPattern: try readUnsigned(byteCount: byteCount) << UInt64(unused)) >> Int64(unused)
    }

    /// Reads this many bytes.
    public mutating func readBytes(_ count: Int) throws(GATTDecodingError) -> [UInt8] {
        precondition(count >= 0, "a number of bytes is not negative")
        try require(count)
        defer { position += count }
        return Array(bytes[position..<position + count])
    }

    /// Reads all bytes that remain, which may be none.
    public mutating func readRemainingBytes() -> [UInt8] {
        defer { position = bytes.count }
        return position == 0 ? bytes : Array(bytes[position...])
    }

    private func require(_ count: Int) throws(GATTDecodingError) {
        guard remainingCount >= count else {
            throw GATTDecodingError(
                code: .tooShort,
                message: "\(count) bytes are needed at offset \(position), and \(remainingCount) are there"
            )
        }
    }
}
