import MinimalProgram
import PeripheralCurrentTime
import PeripheralKit

@main
struct WithCurrentTime {
    static func main() async throws {
        let time = CurrentTimeService {
            guard let now = CurrentTime(since1970: .zero) else { throw ATTError.unlikelyError }
            return now
        }
        try await runMinimalProgram(with: [time]) { session in
            try await time.notify(.manualUpdate, in: session)
        }
    }
}
