public import PeripheralKit

/// What a phone's ringer does when an alert comes: the value of the Ringer Setting, 0x2A41 (Phone Alert Status Service 1.0,
/// section 3.2).
public enum RingerSetting: UInt8, Hashable, Sendable {
    /// The ringer stays silent.
    case silent = 0
    /// The ringer acts as the phone is set to.
    case normal = 1
}

extension RingerSetting: GATTValue {
    /// Reads one byte; 2 to 255 are reserved, and refused.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let rawValue: UInt8 = try reader.read()
        guard let setting = RingerSetting(rawValue: rawValue) else {
            throw .invalidValue("\(rawValue) is no ringer setting")
        }
        self = setting
    }

    /// Appends one byte.
    public func encode(into writer: inout ByteWriter) {
        writer.write(rawValue)
    }
}
