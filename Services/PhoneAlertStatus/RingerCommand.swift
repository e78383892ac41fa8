public import PeripheralKit

/// The value of the Ringer Control Point characteristic, 0x2A40.
///
/// The value is a command that a central sends to the ringer of a phone.
///
/// The Phone Alert Status Service 1.0, section 3.3, defines the commands.
public enum RingerCommand: UInt8, Hashable, Sendable {
    /// Silent Mode, which changes the ringer setting to ``RingerSetting/silent``.
    case silentMode = 1
    /// Mute Once, which silences the current alert but not the next alert.
    case muteOnce = 2
    /// The command Cancel Silent Mode.
    ///
    /// The command changes the ringer setting to ``RingerSetting/normal``.
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
