/// A reader that decodes values from a sequence of bytes.
///
/// The reader proceeds from the first byte to the last.
///
/// The reader never reads past the last byte.
public struct ByteReader: Sendable {
    private let bytes: [UInt8]
    private var position: Int
    private let end: Int

    /// Creates a reader that starts at the first of the given bytes.
    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
        position = 0
        end = bytes.count
    }

    /// Creates a reader that starts at the first of the given bytes.
    public init(_ bytes: ArraySlice<UInt8>) {
        self.init(Array(bytes))
    }

    /// The number of bytes that the reader has not yet read.
    public var remainingCount: Int {
        end - position
    }

    /// Whether the reader has read all bytes.
    public var isAtEnd: Bool {
        position == end
    }

    /// Reads a little-endian integer.
    ///
    /// - Throws: ``GATTDecodingError/Code/tooShort`` when fewer bytes remain than the integer type needs.
    public mutating func read<Value: FixedWidthInteger>(
        _ type: Value.Type = Value.self
    ) throws(GATTDecodingError) -> Value {
        let start = try advance(by: Value.bitWidth / 8)
        var value: Value = 0
        for index in (start..<position).reversed() {
            // Shifting an 8-bit value by its whole width is well defined and results in 0.
            value = value << 8 | Value(truncatingIfNeeded: bytes[index])
        }
        return value
    }

    /// Reads the given number of bytes without conversion.
    ///
    /// - Throws: ``GATTDecodingError/Code/tooShort`` when fewer than `count` bytes remain, or when `count` is
    ///   negative.
    public mutating func readBytes(_ count: Int) throws(GATTDecodingError) -> [UInt8] {
        let start = try advance(by: count)
        return Array(bytes[start..<position])
    }

    /// Reads all remaining bytes.
    ///
    /// The result can be empty.
    public mutating func readRemaining() -> [UInt8] {
        defer { position = end }
        return position == 0 ? bytes : Array(bytes[position..<end])
    }

    /// Skips the next bytes and returns the position of the first skipped byte.
    private mutating func advance(by count: Int) throws(GATTDecodingError) -> Int {
        guard 0 <= count, count <= remainingCount else {
            throw .tooShort(needed: count, remaining: remainingCount)
        }
        defer { position += count }
        return position
    }
}
