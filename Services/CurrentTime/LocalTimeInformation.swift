public import PeripheralKit

/// The difference between local time and UTC.
///
/// This type represents the value of the Local Time Information characteristic, 0x2A0F (Current Time Service
/// 1.1, section 3.2).
public struct LocalTimeInformation: Hashable, Sendable {
    /// The offset of the local time for daylight saving time.
    public enum DaylightSavingTime: UInt8, Hashable, Sendable, CaseIterable {
        /// No offset.
        case standardTime = 0
        /// Half an hour ahead.
        case halfAnHour = 2
        /// An hour ahead.
        case hour = 4
        /// Two hours ahead.
        case twoHours = 8
    }

    /// The offset of standard time from UTC, in quarters of an hour: −48 to 56; `nil` when unknown.
    public let quarterHoursFromUTC: Int?

    /// The offset of the local time from standard time; `nil` when unknown.
    public var daylightSavingTime: DaylightSavingTime?

    /// Creates local time information.
    ///
    /// - Parameters:
    ///   - quarterHoursFromUTC: The offset of standard time from UTC, in quarters of an hour: 4 for Berlin;
    ///     `nil` when unknown. A value outside −48 to 56 becomes the nearer bound.
    ///   - daylightSavingTime: The offset of the local time from standard time; `nil` when unknown.
    public init(quarterHoursFromUTC: Int?, daylightSavingTime: DaylightSavingTime? = nil) {
        self.quarterHoursFromUTC = quarterHoursFromUTC.map { max(-48, min($0, 56)) }
        self.daylightSavingTime = daylightSavingTime
    }
}

extension LocalTimeInformation: GATTValue {
    private static let unknownTimeZone: Int8 = -128
    private static let unknownDaylightSavingTime: UInt8 = 255

    /// Reads two bytes.
    ///
    /// - Throws: `GATTDecodingError`, also when a byte has a reserved value.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let zone: Int8 = try reader.read()
        guard zone == Self.unknownTimeZone || (-48...56).contains(zone) else {
            throw .invalidValue("\(zone) is not a time zone; those are -48 through 56, and -128 (unknown)")
        }
        quarterHoursFromUTC = zone == Self.unknownTimeZone ? nil : Int(zone)
        let offset: UInt8 = try reader.read()
        daylightSavingTime = DaylightSavingTime(rawValue: offset)
        guard offset == Self.unknownDaylightSavingTime || daylightSavingTime != nil else {
            throw .invalidValue("\(offset) is not a DST offset; those are 0, 2, 4, 8 and 255 (unknown)")
        }
    }

    /// Appends two bytes.
    public func encode(into writer: inout ByteWriter) {
        writer.write(quarterHoursFromUTC.map { Int8(clamping: $0) } ?? Self.unknownTimeZone)
        writer.write(daylightSavingTime?.rawValue ?? Self.unknownDaylightSavingTime)
    }
}
