import PeripheralKit

extension DateTime {
    /// A time on a day of November 2026.
    static func november(_ day: Int, hour: Int = 8, minute: Int = 0, second: Int = 0) -> DateTime {
        let time = DateTime(year: 2026, month: 11, day: day, hour: hour, minute: minute, second: second)
        guard let time else { preconditionFailure("give it a time of November") }
        return time
    }
}
