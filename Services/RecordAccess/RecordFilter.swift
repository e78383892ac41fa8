public import PeripheralKit

/// By what centrals may choose records: a filter type of the Record Access Control Point.
public struct RecordFilter<Record: Sendable>: Sendable {
    let type: UInt8
    /// How many bytes a bound has.
    let size: Int
    /// The place of a bound among the records; `nil` when it is none.
    let bound: @Sendable ([UInt8]) -> Int64?
    /// The place of a record; `nil` for one that is on no side of any bound.
    let place: @Sendable (Record) -> Int64?

    /// By the sequence number, filter type 0x01.
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

    /// By the time that the user has seen, filter type 0x02.
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

/// The time that the clock of a device has shown to its user.
public struct UserFacingTime: Hashable, Sendable {
    /// The seconds since the beginning of the year 0.
    let seconds: Int64

    /// Makes a time of what a device stores: the time of its inner clock, and what the user has added to that.
    ///
    /// `nil` when year, month or day are not known.
    ///
    /// - Parameters:
    ///   - time: The inner clock.
    ///   - minutes: What the user has added; beyond ±2,147,483,647, that many.
    public init?(_ time: DateTime, minutes: Int = 0) {
        guard let year = time.year, let month = time.month, let day = time.day else { return nil }
        // The year begins in March, so that the day that some years lack is its last.
        let yearFromMarch = month > 2 ? year : year - 1
        let monthFromMarch = (month + 9) % 12
        let leapDays = yearFromMarch / 4 - yearFromMarch / 100 + yearFromMarch / 400
        let days = yearFromMarch * 365 + leapDays + (monthFromMarch * 153 + 2) / 5 + day
        let minutesOfDay = Int64(time.hour * 60 + time.minute) + Int64(Int32(clamping: minutes))
        seconds = Int64(days) * 86_400 + minutesOfDay * 60 + Int64(time.second)
    }
}
