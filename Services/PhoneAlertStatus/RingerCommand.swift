public import PeripheralKit

/// A central's command to a phone's ringer: the value of the Ringer Control Point, 0x2A40.
///
/// The source is the Phone Alert Status Service 1.0, section 3.3.
public enum RingerCommand: UInt8, Hashable, Sendable {
    /// Silent Mode: the ringer setting becomes ``RingerSetting/silent``.
    case silentMode = 1
    /// Mute Once: the current alert becomes silent, and the next alert sounds again.
    case muteOnce = 2
    /// Cancel Silent Mode: the ringer setting becomes ``RingerSetting/normal``.
    case cancelSilentMode = 3
}

extension RingerCommand: GATTValue {
    /// Reads one byte, and refuses the reserved values 0 and 4 through 255.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let rawValue: UInt8 = try reader.read()
        guard let command = RingerCommand(rawValue: rawValue) else {
            throw .invalidValue("\(rawValue) is not a ringer command; the commands are 1 through 3")
        }
        self = command
    }

    /// Appends one byte.
    public func encode(into writer: inout ByteWriter) {
        writer.write(rawValue)
    }
}
