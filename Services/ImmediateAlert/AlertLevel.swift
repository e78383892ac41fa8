public import PeripheralKit

/// The value of the Alert Level characteristic, 0x2A06.
///
/// The Immediate Alert Service 1.0, section 3.1, and the Link Loss Service 1.0, section 3.1, define the alert
/// levels.
public enum AlertLevel: UInt8, Hashable, Sendable, CaseIterable {
    /// No alert.
    case none = 0
    /// A mild alert.
    case mild = 1
    /// The strongest alert that the device can produce.
    case high = 2
}

extension AlertLevel: GATTValue {
    /// Reads one byte.
    ///
    /// - Throws: `GATTDecodingError` if the byte is missing or above 2. The Immediate Alert Service
    ///   specification 1.0 reserves values above 2.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let byte: UInt8 = try reader.read()
        guard let level = AlertLevel(rawValue: byte) else {
            throw .invalidValue("\(byte) is not an alert level; the levels are 0, 1 and 2")
        }
        self = level
    }

    /// Appends one byte.
    public func encode(into writer: inout ByteWriter) {
        writer.write(rawValue)
    }
}
