import PeripheralCyclingPower
import PeripheralKit

enum CyclingPowerStandIns {
    protocol Sensor: Sendable {
        var turns: AsyncStream<(count: Int, time: Duration, watts: Int16)> { get }
    }

    static var sensor: any Sensor { fatalError() }
}
