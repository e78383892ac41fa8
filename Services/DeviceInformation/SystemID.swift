public import PeripheralKit

/// What tells a device from all others: the value of the System ID, 0x2A23 (Device Information Service 1.1,
/// section 3.7).
public struct SystemID: Hashable, Sendable {
    /// The identifier as an EUI-64 of the IEEE: the organization in the upper 24 bits, and what it assigns to
    /// the device in the lower 40.
    public var eui64: UInt64

    /// Makes an identifier of an EUI-64, such as `0x123456FFFE9ABCDE`.
    ///
    /// That one is the identifier of a device with the public address 12:34:56:9A:BC:DE: `FFFE` comes between
    /// the halves.
    public init(eui64: UInt64) {
        self.eui64 = eui64
    }
}

extension SystemID: GATTValue {
    /// Reads eight bytes, the least significant first.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        try self.init(eui64: reader.read())
    }

    /// Appends eight bytes, the least significant first.
    public func encode(into writer: inout ByteWriter) {
        writer.write(eui64)
    }
}
