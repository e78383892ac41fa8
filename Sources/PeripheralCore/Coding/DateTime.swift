/// A date and a time of day in a time zone that the service defines.
///
/// The GATT Specification Supplement, 3.71 (Date Time), calls the format *date_time*. An encoded date and
/// time has seven bytes. In the encoded bytes, 0 represents an unknown year, month or day.
public struct DateTime: GATTValue, Hashable {
    /// The year, 1582 through 9999, or `nil` if the year is unknown.
    public let year: Int?
    /// The month, 1 through 12, or `nil` if the month is unknown.
    public let month: Int?
    /// The day of the month, 1 through 31, or `nil` if the day is unknown.
    public let day: Int?
    /// The hour, 0 through 23.
    public let hour: Int
    /// The minute, 0 through 59.
    public let minute: Int
    /// The second, 0 through 59.
    public let second: Int

    /// Creates a date and time from the given fields.
    ///
    /// The initializer returns `nil` if a parameter is out of range, or if the month does not have the given
    /// day.
    public init?(
        year: Int?,
        month: Int?,
        day: Int?,
        hour: Int = 0,
        minute: Int = 0,
        second: Int = 0
    ) {
        guard (1582...9999).contains(year ?? 1582), (1...12).contains(month ?? 1),
            (1...Self.dayCount(ofMonth: month, year: year)).contains(day ?? 1),
            (0..<24).contains(hour), (0..<60).contains(minute), (0..<60).contains(second)
        else {
            return nil
        }
        self.year = year
        self.month = month
        self.day = day
        self.hour = hour
        self.minute = minute
        self.second = second
    }

    /// Reads seven bytes.
    ///
    /// - Throws: ``GATTDecodingError`` with one of the following codes:
    ///   - ``GATTDecodingError/Code/invalidValue`` when a field is out of range, or when the month does not
    ///     have the given day
    ///   - ``GATTDecodingError/Code/tooShort`` when fewer than seven bytes remain
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let year = Int(try reader.read(UInt16.self))
        let month = Int(try reader.read(UInt8.self))
        let day = Int(try reader.read(UInt8.self))
        let hour = Int(try reader.read(UInt8.self))
        let minute = Int(try reader.read(UInt8.self))
        let second = Int(try reader.read(UInt8.self))
        let value = DateTime(
            year: year == 0 ? nil : year,
            month: month == 0 ? nil : month,
            day: day == 0 ? nil : day,
            hour: hour,
            minute: minute,
            second: second
        )
        guard let value else {
            throw .invalidValue("\(year)-\(month)-\(day) \(hour):\(minute):\(second) is not a date and time")
        }
        self = value
    }

    /// Appends the seven bytes of the date and time.
    ///
    /// An unknown year, month or day is 0.
    public func encode(into writer: inout ByteWriter) {
        writer.reserve(7)
        writer.write(UInt16(truncatingIfNeeded: year ?? 0))
        writer.write(UInt8(truncatingIfNeeded: month ?? 0))
        writer.write(UInt8(truncatingIfNeeded: day ?? 0))
        writer.write(UInt8(truncatingIfNeeded: hour))
        writer.write(UInt8(truncatingIfNeeded: minute))
        writer.write(UInt8(truncatingIfNeeded: second))
    }

    /// Returns the maximum number of days in the month.
    ///
    /// The result is 31 for an unknown month, and 29 for February of an unknown year.
    private static func dayCount(ofMonth month: Int?, year: Int?) -> Int {
        switch month {
        case 2: isLeapYear(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Returns whether the year can have a February 29.
    ///
    /// The result is `true` for an unknown year.
    private static func isLeapYear(_ year: Int?) -> Bool {
        guard let year else {
            return true
        }
        return year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
    }
}
