/// Puts bytes together.
public struct ByteWriter: Sendable {
    /// What has been written.
    public private(set) var bytes: [UInt8] = []

    /// Begins with nothing.
    public init() {}

    /// Makes room for this many more bytes at once.
    public mutating func reserve(_ count: Int) {
        bytes.reserveCapacity(bytes.count + count)
    }

    /// Appends an integer, the least significant byte first.
    public mutating func write<Integer: FixedWidthInteger>(_ value: Integer) {
        for index in 0..<Integer.bitWidth / 8 {
            bytes.append(UInt8(truncatingIfNeeded: value >> (8 * index)))
        }
    }

    /// Appends the lowest bytes of an integer, such as 3 for the 24 bits that Swift has no type for.
    ///
    /// - Parameters:
    ///   - value: The integer; what does not fit is lost.
    ///   - byteCount: How many of its bytes to write.
    public mutating func write<Integer: FixedWidthInteger>(_ value: Integer, byteCount: Int) {
        for index in 0..<byteCount {
            bytes.append(UInt8(truncatingIfNeeded: value >> (8 * index)))
        }
    }

    /// Appends bytes.
    public mutating func write(_ newBytes: some Sequence<UInt8>) {
        bytes.append(contentsOf: newBytes)
    }
}
