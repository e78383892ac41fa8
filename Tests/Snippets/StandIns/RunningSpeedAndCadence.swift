import PeripheralKit
import PeripheralRunningSpeedAndCadence

enum RunningSpeedAndCadenceStandIns {
    protocol Sensor: Sendable {
        var steps: AsyncStream<(speed: Double, cadence: UInt8, isRunning: Bool)> { get }
    }

    static var sensor: any Sensor { fatalError() }
}
