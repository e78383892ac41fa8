import PeripheralHeartRate
import PeripheralKit

enum HeartRateStandIns {
    struct Beat {
        var bpm: UInt16
    }

    protocol Sensor: Sendable {
        var beats: AsyncStream<Beat> { get }
    }

    static var sensor: any Sensor { fatalError() }
}
