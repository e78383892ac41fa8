/// A date with its time of day, as in the Date Time characteristic: 7 bytes (GATT Specification Supplement,
/// 3.71).
///
/// There is no time zone: it is the local time of the device. Year, month and day may be unknown.
public struct DateTime: GATTValue, Hashable {
    /// 1582 to 9999, or `nil` when it is unknown.
    public let year: Int?
    /// 1 to 12, or `nil` when it is unknown.
    public let month: Int?
    /// 1 to 31, or `nil` when it is unknown.
    public let day: Int?
    /// 0 to 23.
    public let hour: Int
    /// 0 to 59.
    public let minute: Int
    /// 0 to 59.
    public let second: Int

    /// Makes a date with its time.
    ///
    /// - Returns: `nil` when a part is out of its range, or when the month has fewer days.
    public init?(year: Int?, month: Int?, day: Int?, hour: Int, minute: Int, second: Int) {
        guard year.map((1582...9999).contains) ?? true,
            month.map((1...12).contains) ?? true,
            day.map((1...Self.dayCount(of: month, in: year)).contains) ?? true,
            (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second)
        else { return nil }
        self.year = year
        self.month = month
        self.day = day
        self.hour = hour
        self.minute = minute
        self.second = second
    }

    /// The days of a month; of an unknown one, or of a February in an unknown year, the most that it may have.
    private static func dayCount(of month: Int?, in year: Int?) -> Int {
        switch month {
        case 2:
            guard let year else { return 29 }
            let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            return isLeapYear ? 29 : 28
        case 4, 6, 9, 11: return 30
        default: return 31
        }
    }

    /// Decodes 7 bytes; a part that is out of its range is no value.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        guard reader.remainingCount >= 7 else {
            throw GATTDecodingError(
                code: .tooShort,
                message: "a date with its time has 7 bytes, and \(reader.remainingCount) are there"
            )
        }
        func known(_ number: Int) -> Int? { number == 0 ? nil : number }
        let year = known(Int(try reader.read(UInt16.self)))
        let month = known(Int(try reader.read(UInt8.self)))
        let day = known(Int(try reader.read(UInt8.self)))
        let hour = Int(try reader.read(UInt8.self))
        let minute = Int(try reader.read(UInt8.self))
        let second = Int(try reader.read(UInt8.self))
        guard
            let value = DateTime(
                year: year,
                month: month,
                day: day,
                hour: hour,
                minute: minute,
                second: second
            )
        else {
            throw GATTDecodingError(code: .invalidValue, message: "there is no such date or time")
        }
        self = value
    }

    /// Appends 7 bytes; what is unknown is 0.
    public func encode(into writer: inout ByteWriter) {
        writer.write(UInt16(year ?? 0))
        for part in [month ?? 0, day ?? 0, hour, minute, second] {
            writer.write(UInt8(part))
        }
    }
}
