import PeripheralBlueZ
import PeripheralKit
import PeripheralTesting

enum PeripheralGuideStandIns {
    struct Beat {
        var bpm: UInt16
    }

    protocol Sensor: Sendable {
        var beats: AsyncStream<Beat> { get }
    }

    static var power: Characteristic<Bool> { fatalError() }
    static var sensor: any Sensor { fatalError() }
}

/// Of the service that the guide makes.
public typealias ExampleResponse = UInt8

extension BluetoothUUID {
    static var example: BluetoothUUID { fatalError() }
    static var exampleMeasurement: BluetoothUUID { fatalError() }
    static var exampleFeature: BluetoothUUID { fatalError() }
}
