public import PeripheralKit

/// The value of the Ringer Setting characteristic, 0x2A41, which describes a phone's ringer.
///
/// The Phone Alert Status Service 1.0, section 3.2, defines the ringer setting.
public enum RingerSetting: UInt8, Hashable, Sendable {
    /// The ringer is silent.
    case silent = 0
    /// The ringer follows the settings of the phone.
    case normal = 1
}

extension RingerSetting: GATTValue {
    /// Reads one byte, and refuses the reserved values 2 through 255.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let rawValue: UInt8 = try reader.read()
        guard let setting = RingerSetting(rawValue: rawValue) else {
            throw .invalidValue("\(rawValue) is not a ringer setting; the settings are 0 and 1")
        }
        self = setting
    }

    /// Appends one byte.
    public func encode(into writer: inout ByteWriter) {
        writer.write(rawValue)
    }
}
