public import PeripheralKit

/// The protocol that a host uses for the reports of a keyboard.
///
/// This type represents the value of the Protocol Mode characteristic, 0x2A4E (HID Service 1.0, section 2.4).
public enum HIDProtocolMode: Equatable, Sendable {
    /// The boot protocol, with a fixed report format.
    ///
    /// A host can use the boot protocol before its operating system starts.
    case boot
    /// The report protocol, with the report format that the report map describes.
    case report
}

extension HIDProtocolMode: GATTValue {
    /// Reads one byte.
    ///
    /// - Throws: `GATTDecodingError` if the byte is missing or has a reserved value above 1.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let byte: UInt8 = try reader.read()
        guard byte <= 1 else { throw .invalidValue("\(byte) is not a protocol mode; the modes are 0 and 1") }
        self = byte == 0 ? .boot : .report
    }

    /// Appends one byte.
    public func encode(into writer: inout ByteWriter) {
        writer.write(self == .boot ? 0 : 1 as UInt8)
    }
}

/// A command that a host writes to the HID Control Point, 0x2A4C.
///
/// HID Service 1.0, section 2.9, defines the commands.
public enum HIDCommand: Equatable, Sendable {
    /// The host suspends.
    ///
    /// The device can save power while the host is suspended. Input from the device wakes the host.
    case suspend
    /// The host has resumed.
    case exitSuspend
}

extension HIDCommand: GATTValue {
    /// Reads one byte.
    ///
    /// - Throws: `GATTDecodingError` if the byte is missing or has a reserved value above 1.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let byte: UInt8 = try reader.read()
        guard byte <= 1 else {
            throw .invalidValue("\(byte) is not a command of the HID Control Point; the commands are 0 and 1")
        }
        self = byte == 0 ? .suspend : .exitSuspend
    }

    /// Appends one byte.
    public func encode(into writer: inout ByteWriter) {
        writer.write(self == .suspend ? 0 : 1 as UInt8)
    }
}
