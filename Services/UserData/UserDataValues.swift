public import PeripheralKit

/// A date in a user's data, such as the date of birth.
public struct UserDate: Hashable, Sendable {
    /// The year, 1582 through 9999, or `nil` if the year is not known.
    public let year: Int?
    /// The month, 1 through 12, or `nil` if the month is not known.
    public let month: Int?
    /// The day of the month, 1 through 31, or `nil` for an unknown day.
    public let day: Int?

    /// Creates a date.
    ///
    /// The initializer returns `nil` if the year, the month or the day is out of range. The initializer also
    /// returns `nil` if the day does not exist in the month.
    public init?(year: Int?, month: Int?, day: Int?) {
        guard DateTime(year: year, month: month, day: day) != nil else { return nil }
        self.year = year
        self.month = month
        self.day = day
    }
}

extension UserDate: GATTValue {
    /// Reads four bytes.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let year: UInt16 = try reader.read()
        let month: UInt8 = try reader.read()
        let day: UInt8 = try reader.read()
        let date = UserDate(
            year: year == 0 ? nil : Int(year),
            month: month == 0 ? nil : Int(month),
            day: day == 0 ? nil : Int(day)
        )
        guard let date else { throw .invalidValue("\(year)-\(month)-\(day) is not a date") }
        self = date
    }

    /// Appends four bytes.
    ///
    /// An unknown year, an unknown month and an unknown day are encoded as 0.
    public func encode(into writer: inout ByteWriter) {
        writer.write(UInt16(clamping: year ?? 0))
        writer.write(UInt8(clamping: month ?? 0))
        writer.write(UInt8(clamping: day ?? 0))
    }
}

/// The gender of a user.
public enum Gender: UInt8, Hashable, Sendable, CaseIterable {
    /// Male.
    case male = 0
    /// Female.
    case female = 1
    /// An unspecified gender.
    case unspecified = 2
}

extension Gender: GATTValue {
    /// Reads one byte.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let value: UInt8 = try reader.read()
        guard let gender = Gender(rawValue: value) else {
            throw .invalidValue("\(value) is not a gender; the values are 0 through 2")
        }
        self = gender
    }

    /// Appends one byte.
    public func encode(into writer: inout ByteWriter) {
        writer.write(rawValue)
    }
}

/// The weight of a user, 0 to 327.675 kilograms in steps of 5 grams.
public struct BodyWeight: GATTValue, Hashable {
    /// The weight in units of 5 grams.
    public var rawValue: UInt16

    /// Creates a weight from a number of 5-gram units.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Creates a weight from a number of kilograms, rounded to the nearest 5 grams.
    ///
    /// The initializer limits the weight to the range of 0 to 327.675 kilograms.
    public init(kilograms: Double) {
        rawValue = UInt16(nearestTo: kilograms * 200)
    }

    /// The weight in kilograms.
    public var kilograms: Double { Double(rawValue) / 200 }

    /// Reads two bytes.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        rawValue = try reader.read()
    }

    /// Appends two bytes.
    public func encode(into writer: inout ByteWriter) {
        writer.write(rawValue)
    }
}

/// A length in a user's data, such as the height of the user.
///
/// The range is 0 to 655.35 meters in steps of one centimeter.
public struct BodyLength: GATTValue, Hashable {
    /// The length in centimeters.
    public var centimeters: UInt16

    /// Creates a length from a number of centimeters.
    public init(centimeters: UInt16) {
        self.centimeters = centimeters
    }

    /// Creates a length from a number of meters, rounded to the nearest centimeter.
    ///
    /// The initializer limits the length to the range of 0 to 655.35 meters.
    public init(meters: Double) {
        centimeters = UInt16(nearestTo: meters * 100)
    }

    /// The length in meters.
    public var meters: Double { Double(centimeters) / 100 }

    /// Reads two bytes.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        centimeters = try reader.read()
    }

    /// Appends two bytes.
    public func encode(into writer: inout ByteWriter) {
        writer.write(centimeters)
    }
}

extension UInt16 {
    /// Creates the nearest integer, limited to the range; 0 for NaN.
    fileprivate init(nearestTo value: Double) {
        let nearest = value.rounded()
        guard nearest > 0 else {
            self = 0
            return
        }
        self = nearest < 65_535 ? UInt16(nearest) : .max
    }
}
