public import PeripheralKit

/// The identifier of a device.
///
/// This type represents the value of the System ID characteristic, 0x2A23 (Device Information Service 1.1,
/// section 3.7).
public struct SystemID: Hashable, Sendable {
    /// The identifier as an EUI-64 of the IEEE.
    ///
    /// The upper 24 bits identify the organization. The lower 40 bits are the identifier that the
    /// organization assigns to the device.
    public var eui64: UInt64

    /// Creates an identifier from an EUI-64, such as `0x123456FFFE9ABCDE`.
    ///
    /// In this example, the public address of the device is 12:34:56:9A:BC:DE. The identifier is that address
    /// with `FFFE` between its two halves.
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
