import PeripheralKit
import PeripheralPulseOximeter

enum PulseOximeterStandIns {
    protocol Sensor: Sendable {
        var values: AsyncStream<(percent: Double, bpm: Double)> { get }
    }

    static var sensor: any Sensor { fatalError() }
}
