public import PeripheralKit

/// The charge level of a battery, in percent.
///
/// This type represents the value of the Battery Level characteristic, 0x2A19 (Battery Service 1.1, section
/// 3.1).
public struct BatteryLevel: Hashable, Sendable {
    /// The level, 0 to 100.
    public let percent: UInt8

    /// Creates a level from a percentage.
    ///
    /// - Parameter percent: The percentage. A value below 0 becomes 0 and a value above 100 becomes 100,
    ///   because gauges can report such values.
    public init(_ percent: some BinaryInteger) {
        self.percent = UInt8(clamping: max(0, min(percent, 100)))
    }
}

extension BatteryLevel: Comparable, CustomStringConvertible {
    /// Returns whether the first level is lower.
    public static func < (lhs: BatteryLevel, rhs: BatteryLevel) -> Bool {
        lhs.percent < rhs.percent
    }

    /// The level as text, such as `87 %`.
    public var description: String { "\(percent) %" }
}

extension BatteryLevel: GATTValue {
    /// Reads one byte.
    ///
    /// - Throws: `GATTDecodingError`, also for a value above 100, which is reserved.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let percent: UInt8 = try reader.read()
        guard percent <= 100 else {
            throw .invalidValue("\(percent) is not a battery level; a level is 0 through 100 percent")
        }
        self.percent = percent
    }

    /// Appends one byte.
    public func encode(into writer: inout ByteWriter) {
        writer.write(percent)
    }
}
