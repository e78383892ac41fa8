/// Gathers a value's bytes, front to back.
public struct ByteWriter: Sendable {
    /// What has been written.
    public private(set) var bytes: [UInt8] = []

    /// Creates a writer that holds nothing yet.
    public init() {}

    /// Makes room for this many further bytes, so that they are written without growing again.
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
        // The usual value is one array, and then it is handed on as it is.
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
