public import PeripheralKit

/// The value of the Tx Power Level characteristic, 0x2A07.
///
/// The value is the transmit power of a device.
///
/// The Tx Power Service 1.0, section 3.1, defines the value.
public struct TxPowerLevel: Hashable, Sendable {
    /// The power in dBm, from −100 to 20.
    ///
    /// The unit dBm means decibels relative to one milliwatt.
    public let dBm: Int8

    /// Creates a level from a power in dBm.
    ///
    /// - Parameter dBm: The power in dBm. The initializer limits the power to the range of −100 to 20.
    public init(dBm: some BinaryInteger) {
        // Converts to a signed integer first, because unsigned types have no -100.
        self.dBm = max(-100, min(Int8(clamping: dBm), 20))
    }
}

extension TxPowerLevel: Comparable, CustomStringConvertible {
    /// Returns whether the first level is lower than the second level.
    public static func < (lhs: TxPowerLevel, rhs: TxPowerLevel) -> Bool {
        lhs.dBm < rhs.dBm
    }

    /// The level as text, such as `-4 dBm`.
    public var description: String { "\(dBm) dBm" }
}

extension TxPowerLevel: GATTValue {
    /// Reads one byte.
    ///
    /// - Throws: `GATTDecodingError` if the byte is missing or outside the range of −100 to 20. The
    ///   specification reserves values outside the range of −100 to 20.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let dBm: Int8 = try reader.read()
        guard (-100...20).contains(dBm) else {
            throw .invalidValue("\(dBm) dBm is not a transmit power; the range is -100 through 20")
        }
        self.dBm = dBm
    }

    /// Appends one byte.
    public func encode(into writer: inout ByteWriter) {
        writer.write(dBm)
    }
}
