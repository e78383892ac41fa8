public import PeripheralKit

/// The report format that a host uses: the value of the Protocol Mode, 0x2A4E.
///
/// The source is the HID Service 1.0, section 2.4.
public enum HIDProtocolMode: Equatable, Sendable {
    /// The fixed format, which a host understands before its operating system runs.
    case boot
    /// The format that the report map describes.
    case report
}

extension HIDProtocolMode: GATTValue {
    /// Reads one byte.
    ///
    /// - Throws: `GATTDecodingError` if the byte is missing or above 1. Values above 1 are reserved.
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
/// The source is the HID Service 1.0, section 2.9.
public enum HIDCommand: Equatable, Sendable {
    /// The host suspends.
    ///
    /// The device may save power. An input from the device wakes the host.
    case suspend
    /// The host has resumed.
    case exitSuspend
}

extension HIDCommand: GATTValue {
    /// Reads one byte.
    ///
    /// - Throws: `GATTDecodingError` if the byte is missing or above 1. Values above 1 are reserved.
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
