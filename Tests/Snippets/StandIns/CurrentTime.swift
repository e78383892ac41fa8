import PeripheralCurrentTime
import PeripheralKit

enum CurrentTimeStandIns {
    protocol Clock: Sendable {
        var currentTime: CurrentTime { get async throws }
        var adjustments: AsyncStream<CurrentTime.AdjustReason> { get }
    }

    static var clock: any Clock { fatalError() }
}
