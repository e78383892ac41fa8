public import PeripheralKit

/// The charge level of a battery, in percent.
///
/// `BatteryLevel` represents the value of the Battery Level characteristic, 0x2A19 (Battery Service 1.1,
/// section 3.1).
public struct BatteryLevel: Hashable, Sendable {
    /// The charge level in percent, 0 to 100.
    public let percent: UInt8

    /// Creates a battery level from a percentage.
    ///
    /// - Parameter percent: The percentage. The initializer changes a value below 0 to 0, and a value above
    ///   100 to 100. Battery gauges can report values outside the range of 0 to 100.
    public init(_ percent: some BinaryInteger) {
        self.percent = UInt8(clamping: max(0, min(percent, 100)))
    }
}

extension BatteryLevel: Comparable, CustomStringConvertible {
    /// Returns whether the first battery level is lower than the second battery level.
    public static func < (lhs: BatteryLevel, rhs: BatteryLevel) -> Bool {
        lhs.percent < rhs.percent
    }

    /// The battery level as text, such as `87 %`.
    public var description: String { "\(percent) %" }
}

extension BatteryLevel: GATTValue {
    /// Reads one byte.
    ///
    /// - Throws: `GATTDecodingError` if the byte is missing, or if the value is above 100. Values above 100
    ///   are reserved.
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
