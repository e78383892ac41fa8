import PeripheralCurrentTime
import PeripheralKit

extension ServiceValues {
    static let currentTime: [Sample] =
        [
            .sent(
                .localTimeInformation,
                LocalTimeInformation(quarterHoursFromUTC: -14, daylightSavingTime: .hour),
                is: [
                    "timezone": ["description": "UTC-03:30", "offset_hours": -3.5, "raw_value": -14],
                    "dst_offset": ["description": "Daylight Time", "offset_hours": 1, "raw_value": 4],
                    "total_offset_hours": -2.5,
                ]
            ),
            .sent(
                .referenceTimeInformation,
                ReferenceTimeInformation(.atomicClock, accuracy: .eighthsOfSecond(1), hoursSinceUpdate: 49),
                is: [
                    "time_source": "ATOMIC_CLOCK", "time_accuracy": 1, "days_since_update": 2,
                    "hours_since_update": 1,
                ]
            ),
            .sent(
                .referenceTimeInformation,
                ReferenceTimeInformation(.gps, hoursSinceUpdate: 255 * 24),
                is: [
                    "time_source": "GPS", "time_accuracy": 255, "days_since_update": 255,
                    "hours_since_update": 255,
                ]
            ),
        ] + times

    /// 22 November 2026, a Sunday.
    private static var times: [Sample] {
        guard
            let time = CurrentTime(
                since1970: .seconds(1_795_309_323) + .milliseconds(500),
                offsetFromUTC: .seconds(3600),
                adjustReason: [.manualUpdate, .timeZone]
            )
        else { return [] }
        let fields: Field = [
            "date_time": "2026-11-22T02:02:03", "day_of_week": "SUNDAY", "fractions256": 128,
            "adjust_reason": 5,
        ]
        return [.sent(.currentTimeValue, time, is: fields), .written(.currentTimeValue, time, is: fields)]
    }
}
