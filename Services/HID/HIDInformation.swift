public import PeripheralKit

/// The HID properties of an input device.
///
/// This type represents the value of the HID Information characteristic, 0x2A4A (HID Service 1.0, section
/// 2.8).
public struct HIDInformation: Equatable, Sendable {
    /// The version of the USB HID specification, in binary-coded decimal.
    ///
    /// For example, the value 0x0111 represents version 1.11.
    public var version: UInt16

    /// The USB HID country code of the hardware.
    ///
    /// The country code 0 means that the hardware is not specific to a country.
    public var countryCode: UInt8

    /// Whether the device can wake its host.
    public var wakesHost: Bool

    /// Whether the device advertises while it is bonded but not connected.
    ///
    /// The bonded host can connect while the device advertises.
    public var isNormallyConnectable: Bool

    /// Creates the HID properties of an input device.
    ///
    /// - Parameters:
    ///   - version: The version of the USB HID specification, in binary-coded decimal.
    ///   - countryCode: The USB HID country code of the hardware.
    ///   - wakesHost: Whether the device can wake its host.
    ///   - isNormallyConnectable: Whether the device advertises while it is bonded but not connected.
    public init(
        version: UInt16 = 0x0111,
        countryCode: UInt8 = 0,
        wakesHost: Bool = true,
        isNormallyConnectable: Bool = true
    ) {
        self.version = version
        self.countryCode = countryCode
        self.wakesHost = wakesHost
        self.isNormallyConnectable = isNormallyConnectable
    }
}

extension HIDInformation: GATTValue {
    /// Reads four bytes and ignores reserved flags.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        version = try reader.read()
        countryCode = try reader.read()
        let flags: UInt8 = try reader.read()
        wakesHost = flags & 1 != 0
        isNormallyConnectable = flags & 2 != 0
    }

    /// Appends four bytes.
    public func encode(into writer: inout ByteWriter) {
        writer.write(version)
        writer.write(countryCode)
        writer.write((wakesHost ? 1 : 0) | (isNormallyConnectable ? 2 : 0) as UInt8)
    }
}
