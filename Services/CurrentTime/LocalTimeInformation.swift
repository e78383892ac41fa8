public import PeripheralKit

/// How local time differs from UTC: the value of the Local Time Information, 0x2A0F (Current Time Service 1.1, section
/// 3.2).
public struct LocalTimeInformation: Hashable, Sendable {
    /// How far clocks are ahead for daylight saving time.
    public enum DaylightSavingTime: UInt8, Hashable, Sendable, CaseIterable {
        /// Not at all.
        case standardTime = 0
        /// By half an hour.
        case halfAnHour = 2
        /// By an hour.
        case hour = 4
        /// By two hours.
        case twoHours = 8
    }

    /// How far standard time is ahead of UTC, in quarters of an hour: −48 to 56; `nil` when not known.
    public let quarterHoursFromUTC: Int?

    /// How far clocks are ahead of standard time; `nil` when not known.
    public var daylightSavingTime: DaylightSavingTime?

    /// Makes an information.
    ///
    /// - Parameters:
    ///   - quarterHoursFromUTC: How far standard time is ahead of UTC, in quarters of an hour: 4 for Berlin; `nil` when not
    ///     known. A value out of −48 to 56 is taken to the next bound.
    ///   - daylightSavingTime: How far clocks are ahead of standard time; `nil` when not known.
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
    /// - Throws: `GATTDecodingError` also when one of them is reserved.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let zone: Int8 = try reader.read()
        guard zone == Self.unknownTimeZone || (-48...56).contains(zone) else {
            throw .invalidValue("\(zone) is no time zone: -48 through 56, and -128, are")
        }
        quarterHoursFromUTC = zone == Self.unknownTimeZone ? nil : Int(zone)
        let offset: UInt8 = try reader.read()
        daylightSavingTime = DaylightSavingTime(rawValue: offset)
        guard offset == Self.unknownDaylightSavingTime || daylightSavingTime != nil else {
            throw .invalidValue("\(offset) is no offset of daylight saving time: 0, 2, 4, 8 and 255 are")
        }
    }

    /// Appends two bytes.
    public func encode(into writer: inout ByteWriter) {
        writer.write(quarterHoursFromUTC.map { Int8(clamping: $0) } ?? Self.unknownTimeZone)
        writer.write(daylightSavingTime?.rawValue ?? Self.unknownDaylightSavingTime)
    }
}
