public import PeripheralKit

/// A criterion by which centrals select records.
///
/// A criterion corresponds to a filter type of the Record Access Control Point.
public struct RecordFilter<Record: Sendable>: Sendable {
    let type: UInt8
    /// The number of bytes in a bound.
    let size: Int
    /// Returns the position of a bound; `nil` when the bytes are not a bound.
    let bound: @Sendable ([UInt8]) -> Int64?
    /// Returns the position of a record; `nil` for a record that never matches.
    let place: @Sendable (Record) -> Int64?

    /// Creates a filter by sequence number (filter type 0x01).
    public static func sequenceNumber(
        _ number: @escaping @Sendable (Record) -> UInt16
    ) -> RecordFilter {
        RecordFilter(
            type: 0x01,
            size: 2,
            bound: { bytes in (try? UInt16(gattBytes: bytes)).map(Int64.init) },
            place: { Int64(number($0)) }
        )
    }

    /// Creates a filter by user-facing time (filter type 0x02).
    public static func userFacingTime(
        _ time: @escaping @Sendable (Record) -> UserFacingTime?
    ) -> RecordFilter {
        RecordFilter(
            type: 0x02,
            size: 7,
            bound: { bytes in (try? DateTime(gattBytes: bytes)).flatMap { UserFacingTime($0)?.seconds } },
            place: { time($0)?.seconds }
        )
    }
}

/// The time that a device displayed to the user.
public struct UserFacingTime: Hashable, Sendable {
    /// The seconds since the beginning of the year 0.
    let seconds: Int64

    /// Adds the user's offset to the time of the device's internal clock.
    ///
    /// The initializer returns `nil` if the year, the month or the day is not known.
    ///
    /// - Parameters:
    ///   - time: The time of the internal clock.
    ///   - minutes: The offset that the user has set, in minutes. The offset is limited to ±2 147 483 647
    ///     minutes.
    public init?(_ time: DateTime, minutes: Int = 0) {
        guard let year = time.year, let month = time.month, let day = time.day else { return nil }
        // The year begins in March, so that the leap day is its last day.
        let yearFromMarch = month > 2 ? year : year - 1
        let monthFromMarch = (month + 9) % 12
        let leapDays = yearFromMarch / 4 - yearFromMarch / 100 + yearFromMarch / 400
        let days = yearFromMarch * 365 + leapDays + (monthFromMarch * 153 + 2) / 5 + day
        let minutesOfDay = Int64(time.hour * 60 + time.minute) + Int64(Int32(clamping: minutes))
        seconds = Int64(days) * 86_400 + minutesOfDay * 60 + Int64(time.second)
    }
}
