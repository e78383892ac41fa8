public import PeripheralKit

/// The difference between local time and UTC.
///
/// This type represents the value of the Local Time Information characteristic, 0x2A0F (Current Time Service
/// 1.1, section 3.2).
public struct LocalTimeInformation: Hashable, Sendable {
    /// The offset of the local time from standard time during daylight saving time.
    public enum DaylightSavingTime: UInt8, Hashable, Sendable, CaseIterable {
        /// The local time is equal to standard time.
        case standardTime = 0
        /// The local time is half an hour ahead of standard time.
        case halfAnHour = 2
        /// The local time is one hour ahead of standard time.
        case hour = 4
        /// The local time is two hours ahead of standard time.
        case twoHours = 8
    }

    /// The offset of standard time from UTC, or `nil` if the offset is unknown.
    ///
    /// The unit of the offset is a quarter of an hour. The offset is a number from −48 to 56.
    public let quarterHoursFromUTC: Int?

    /// The offset of the local time from standard time, or `nil` if unknown.
    public var daylightSavingTime: DaylightSavingTime?

    /// Creates the information from the offsets of standard time and daylight saving time.
    ///
    /// - Parameters:
    ///   - quarterHoursFromUTC: The offset of standard time from UTC in quarters of an hour, such as 4 for
    ///     Berlin, or `nil` if the offset is unknown. The initializer replaces an offset outside the range of
    ///     −48 to 56 with the nearer bound.
    ///   - daylightSavingTime: The offset of the local time from standard time, or `nil` if the offset is
    ///     unknown.
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
    /// - Throws: A `GATTDecodingError`, for example if a byte has a reserved value.
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
