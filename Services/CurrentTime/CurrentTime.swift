public import PeripheralKit

/// The date and time of a clock.
///
/// This type represents the value of the Current Time characteristic, 0x2A2B (Current Time Service 1.1,
/// section 3.1).
public struct CurrentTime: Hashable, Sendable {
    /// A day of the week.
    public enum DayOfWeek: UInt8, Hashable, Sendable, CaseIterable {
        /// The days of the week, beginning with Monday.
        case monday = 1, tuesday, wednesday, thursday, friday, saturday, sunday
    }

    /// The reasons why a clock has been adjusted since the last notification.
    public struct AdjustReason: OptionSet, Hashable, Sendable {
        /// The encoded reasons.
        public var rawValue: UInt8

        /// Creates a set of reasons.
        ///
        /// The set can contain reasons that the specification does not define.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// A person or a central has set the clock.
        public static let manualUpdate = AdjustReason(rawValue: 1 << 0)
        /// An external time source, such as a time server, has set the clock.
        public static let externalReference = AdjustReason(rawValue: 1 << 1)
        /// The time zone has changed.
        public static let timeZone = AdjustReason(rawValue: 1 << 2)
        /// Daylight saving time has begun or ended.
        public static let daylightSavingTime = AdjustReason(rawValue: 1 << 3)
    }

    /// The local date and time.
    ///
    /// The year, month and day can be unknown.
    public var dateTime: DateTime

    /// The day of the week, or `nil` if the day is unknown.
    public var dayOfWeek: DayOfWeek?

    /// The elapsed part of the current second, in units of 1/256 s.
    public var fractions256: UInt8

    /// The reasons for the adjustments of the clock.
    ///
    /// The set is empty if the clock has not been adjusted.
    public var adjustReason: AdjustReason

    /// Creates a time from a date, a weekday and the reasons for an adjustment.
    ///
    /// - Parameters:
    ///   - dateTime: The local date and time.
    ///   - dayOfWeek: The day of the week, or `nil` if the day is unknown.
    ///   - fractions256: The elapsed part of the current second, in units of 1/256 s.
    ///   - adjustReason: The reasons for the adjustments of the clock.
    public init(
        _ dateTime: DateTime,
        dayOfWeek: DayOfWeek? = nil,
        fractions256: UInt8 = 0,
        adjustReason: AdjustReason = []
    ) {
        self.dateTime = dateTime
        self.dayOfWeek = dayOfWeek
        self.fractions256 = fractions256
        self.adjustReason = adjustReason
    }

    /// Creates the local time and the day of the week from a Unix time.
    ///
    /// The initializer returns `nil` if the year is outside the range of 1582 to 9999.
    ///
    /// - Parameters:
    ///   - duration: The Unix time, as returned by `clock_gettime`: the time since 1 January 1970, 00:00 UTC,
    ///     without leap seconds.
    ///   - offset: The offset of the local time from UTC, including daylight saving time. A positive offset
    ///     means that the local time is ahead of UTC.
    ///   - adjustReason: The reasons for the adjustments of the clock.
    public init?(
        since1970 duration: Duration,
        offsetFromUTC offset: Duration = .zero,
        adjustReason: AdjustReason = []
    ) {
        // Beyond this range, no year can be encoded, and the sum could overflow.
        let possible = Duration.seconds(-400_000_000_000)...Duration.seconds(400_000_000_000)
        guard possible.contains(duration), possible.contains(offset) else { return nil }
        let local = (duration + offset).components
        // Before 1970, both parts are negative.
        let seconds = local.attoseconds < 0 ? local.seconds - 1 : local.seconds
        let attoseconds = local.attoseconds < 0 ? local.attoseconds + Self.second : local.attoseconds
        let timeOfDay = Int(seconds.modulo(86_400))
        let days = (seconds - Int64(timeOfDay)) / 86_400
        guard let date = CivilDate(daysSince1970: days),
            let dateTime = DateTime(
                year: date.year,
                month: date.month,
                day: date.day,
                hour: timeOfDay / 3600,
                minute: timeOfDay / 60 % 60,
                second: timeOfDay % 60
            )
        else { return nil }
        // 1 January 1970 was a Thursday.
        let dayOfWeek = DayOfWeek(rawValue: UInt8((days + 3).modulo(7) + 1))
        let fractions = UInt8(clamping: attoseconds / (Self.second / 256))
        self.init(dateTime, dayOfWeek: dayOfWeek, fractions256: fractions, adjustReason: adjustReason)
    }

    /// The number of attoseconds in a second.
    private static let second: Int64 = 1_000_000_000_000_000_000
}

extension CurrentTime: GATTValue {
    /// Reads ten bytes.
    ///
    /// - Throws: A `GATTDecodingError`, for example if a date field or the day of the week is out of range.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        dateTime = try DateTime(decoding: &reader)
        let day: UInt8 = try reader.read()
        dayOfWeek = DayOfWeek(rawValue: day)
        guard day == 0 || dayOfWeek != nil else {
            throw .invalidValue("\(day) is not a day of the week; the days are 0 (unknown) through 7")
        }
        fractions256 = try reader.read()
        adjustReason = AdjustReason(rawValue: try reader.read())
    }

    /// Appends ten bytes.
    public func encode(into writer: inout ByteWriter) {
        dateTime.encode(into: &writer)
        writer.write(dayOfWeek?.rawValue ?? 0)
        writer.write(fractions256)
        writer.write(adjustReason.rawValue)
    }
}

/// A day of the Gregorian calendar.
private struct CivilDate {
    var year: Int
    var month: Int
    var day: Int

    /// Creates the day from a number of days.
    ///
    /// The algorithm counts in eras of 400 years, which all have the same number of days. The years of the
    /// algorithm begin with March. The leap day is therefore the last day of a year.
    init?(daysSince1970 days: Int64) {
        // Beyond this range, no year can be encoded.
        guard abs(days) < 4_000_000 else { return nil }
        let daysSinceYear0 = Int(days) + 719_468
        let dayOfEra = daysSinceYear0.modulo(146_097)
        let era = (daysSinceYear0 - dayOfEra) / 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    }
}

extension BinaryInteger {
    /// The remainder, which is never negative.
    fileprivate func modulo(_ divisor: Self) -> Self {
        let remainder = self % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }
}
