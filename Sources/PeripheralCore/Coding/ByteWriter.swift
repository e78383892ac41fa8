/// Collects the bytes of a value, front to back.
public struct ByteWriter: Sendable {
    /// The bytes written so far.
    public private(set) var bytes: [UInt8] = []

    /// Creates an empty writer.
    public init() {}

    /// Reserves capacity for this many further bytes.
    public mutating func reserve(_ count: Int) {
        bytes.reserveCapacity(bytes.count + count)
    }

    /// Appends an integer, least significant byte first.
    public mutating func write(_ value: some FixedWidthInteger) {
        for shift in stride(from: 0, to: value.bitWidth, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    /// Appends bytes as they are.
    public mutating func write(_ newBytes: [UInt8]) {
        // Most values consist of one array, which then needs no copy.
        if bytes.isEmpty {
            bytes = newBytes
        } else {
            bytes += newBytes
        }
    }

    /// Appends bytes as they are.
    public mutating func write(_ newBytes: some Sequence<UInt8>) {
        bytes.append(contentsOf: newBytes)
    }
}
