public import PeripheralKit

/// The power with which a device transmits: the value of the Tx Power Level, 0x2A07 (Tx Power Service 1.0, section
/// 3.1).
public struct TxPowerLevel: Hashable, Sendable {
    /// The power in dBm, decibels over one milliwatt: −100 to 20.
    public let dBm: Int8

    /// Makes a level of a number of dBm.
    ///
    /// - Parameter dBm: A value below −100 is taken as −100, one above 20 as 20.
    public init(dBm: some BinaryInteger) {
        // First an integer with a sign: -100 is none of other types.
        self.dBm = max(-100, min(Int8(clamping: dBm), 20))
    }
}

extension TxPowerLevel: Comparable, CustomStringConvertible {
    /// Tells whether the first level is the weaker one.
    public static func < (lhs: TxPowerLevel, rhs: TxPowerLevel) -> Bool {
        lhs.dBm < rhs.dBm
    }

    /// The level as people write it, such as `-4 dBm`.
    public var description: String { "\(dBm) dBm" }
}

extension TxPowerLevel: GATTValue {
    /// Reads one byte.
    ///
    /// - Throws: `GATTDecodingError` also for what is not −100 to 20, which is reserved.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let dBm: Int8 = try reader.read()
        guard (-100...20).contains(dBm) else {
            throw .invalidValue("\(dBm) dBm is no power to transmit with: -100 through 20 are")
        }
        self.dBm = dBm
    }

    /// Appends one byte.
    public func encode(into writer: inout ByteWriter) {
        writer.write(dBm)
    }
}
