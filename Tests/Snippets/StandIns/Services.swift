import PeripheralKit

enum ServicesStandIns {
    struct Beat {
        var bpm: UInt16
    }

    protocol Sensor: Sendable {
        var beats: AsyncStream<Beat> { get }
    }

    static var sensor: any Sensor { fatalError() }
}
