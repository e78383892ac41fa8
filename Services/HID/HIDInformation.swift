public import PeripheralKit

/// What an input device is: the value of the HID Information, 0x2A4A (HID Service 1.0, section 2.8).
public struct HIDInformation: Equatable, Sendable {
    /// The version of the USB HID specification that the device follows, in binary-coded decimal: 0x0111 for 1.11.
    public var version: UInt16

    /// The country that the hardware is made for, as USB HID numbers it; 0 when it is made for none.
    public var countryCode: UInt8

    /// Whether the device can wake its host.
    public var wakesHost: Bool

    /// Whether the device advertises when it is bonded and not connected, so that its host can connect at any time.
    public var isNormallyConnectable: Bool

    /// Makes an information.
    ///
    /// - Parameters:
    ///   - version: The version of the USB HID specification, in binary-coded decimal.
    ///   - countryCode: The country that the hardware is made for.
    ///   - wakesHost: Whether the device can wake its host.
    ///   - isNormallyConnectable: Whether the host can connect at any time.
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
    /// Reads four bytes; flags that are reserved are ignored.
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
