/// A writer that appends the encoded bytes of a value to an array.
public struct ByteWriter: Sendable {
    /// The bytes that the writer has written.
    public private(set) var bytes: [UInt8] = []

    /// Creates an empty writer.
    public init() {}

    /// Reserves memory for the given number of additional bytes.
    public mutating func reserve(_ count: Int) {
        bytes.reserveCapacity(bytes.count + count)
    }

    /// Appends the bytes of an integer, with the least significant byte first.
    public mutating func write(_ value: some FixedWidthInteger) {
        for shift in stride(from: 0, to: value.bitWidth, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    /// Appends bytes without conversion.
    public mutating func write(_ newBytes: [UInt8]) {
        // Most values consist of one array, which then needs no copy.
        if bytes.isEmpty {
            bytes = newBytes
        } else {
            bytes += newBytes
        }
    }

    /// Appends bytes without conversion.
    public mutating func write(_ newBytes: some Sequence<UInt8>) {
        bytes.append(contentsOf: newBytes)
    }
}
