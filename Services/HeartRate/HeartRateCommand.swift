public import PeripheralKit

/// A command that a central writes to the Heart Rate Control Point, 0x2A39.
///
/// The Heart Rate Service 1.0, section 3.3, defines the commands.
public struct HeartRateCommand: Hashable, Sendable {
    /// The encoded command.
    public var rawValue: UInt8

    /// Creates a command.
    ///
    /// The initializer accepts commands that the Heart Rate Service specification 1.0 does not define.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Resets the energy expended to 0.
    public static let resetEnergyExpended = HeartRateCommand(rawValue: 0x01)
}

extension HeartRateCommand: GATTValue {
    /// Reads one byte.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        try self.init(rawValue: reader.read())
    }

    /// Appends one byte.
    public func encode(into writer: inout ByteWriter) {
        writer.write(rawValue)
    }
}
