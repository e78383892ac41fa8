public import PeripheralKit

/// A 64-bit identifier of a device.
///
/// This type represents the value of the System ID characteristic, 0x2A23 (Device Information Service 1.1,
/// section 3.7).
public struct SystemID: Hashable, Sendable {
    /// The identifier as an EUI-64, the 64-bit identifier format that the IEEE defines.
    ///
    /// The upper 24 bits of the EUI-64 identify an organization. The lower 40 bits of the EUI-64 contain the
    /// number that the organization assigns to the device.
    public var eui64: UInt64

    /// Creates an identifier from an EUI-64, such as `0x123456FFFE9ABCDE`.
    ///
    /// The example `0x123456FFFE9ABCDE` belongs to a device with the public address 12:34:56:9A:BC:DE. The
    /// EUI-64 of the device contains `FFFE` between the two halves of the public address.
    public init(eui64: UInt64) {
        self.eui64 = eui64
    }
}

extension SystemID: GATTValue {
    /// Decodes the identifier from eight bytes, with the least significant byte first.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        try self.init(eui64: reader.read())
    }

    /// Appends the eight bytes of the identifier, with the least significant byte first.
    public func encode(into writer: inout ByteWriter) {
        writer.write(eui64)
    }
}
