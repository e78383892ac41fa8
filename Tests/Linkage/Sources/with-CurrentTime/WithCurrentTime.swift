import MinimalProgram
import PeripheralCurrentTime
import PeripheralKit

@main
struct WithCurrentTime {
    static func main() async throws {
        let time = CurrentTimeService(
            localTime: { LocalTimeInformation(quarterHoursFromUTC: 4, daylightSavingTime: .standardTime) },
            referenceTime: { ReferenceTimeInformation(.gps, hoursSinceUpdate: 1) },
            onSetTime: { _ in },
            onSetLocalTime: { _ in },
            now: {
                guard let now = CurrentTime(since1970: .zero) else { throw ATTError.unlikelyError }
                return now
            }
        )
        try await runMinimalProgram(with: [time]) { session in
            try await time.notify(.manualUpdate, in: session)
        }
    }
}
