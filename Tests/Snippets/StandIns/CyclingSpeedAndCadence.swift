import PeripheralCyclingSpeedAndCadence
import PeripheralKit

enum CyclingSpeedAndCadenceStandIns {
    protocol Sensor: Sendable {
        var turns: AsyncStream<(count: UInt32, time: Duration)> { get }
        func setWheelRevolutions(_ count: UInt32) async
    }

    static var sensor: any Sensor { fatalError() }
}
