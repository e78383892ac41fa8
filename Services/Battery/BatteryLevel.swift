public import PeripheralKit

/// How full a battery is, in percent: the value of the Battery Level, 0x2A19 (Battery Service 1.1, section
/// 3.1).
public struct BatteryLevel: Hashable, Sendable {
    /// The level, 0 to 100.
    public let percent: UInt8

    /// Makes a level of a percentage.
    ///
    /// - Parameter percent: A value below 0 is taken as 0, one above 100 as 100: gauges overshoot.
    public init(_ percent: some BinaryInteger) {
        self.percent = UInt8(clamping: max(0, min(percent, 100)))
    }
}

extension BatteryLevel: Comparable, CustomStringConvertible {
    /// Tells whether the first level is the lower one.
    public static func < (lhs: BatteryLevel, rhs: BatteryLevel) -> Bool {
        lhs.percent < rhs.percent
    }

    /// The level as people write it, such as `87 %`.
    public var description: String { "\(percent) %" }
}

extension BatteryLevel: GATTValue {
    /// Reads one byte.
    ///
    /// - Throws: `GATTDecodingError` also for a value above 100, which is reserved.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let percent: UInt8 = try reader.read()
        guard percent <= 100 else {
            throw .invalidValue("\(percent) is no percentage: 0 through 100 are")
        }
        self.percent = percent
    }

    /// Appends one byte.
    public func encode(into writer: inout ByteWriter) {
        writer.write(percent)
    }
}
