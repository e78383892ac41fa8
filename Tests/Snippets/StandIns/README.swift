import PeripheralBlueZ
import PeripheralKit
import PeripheralTesting
import Testing

enum READMEStandIns {
    struct Beat {
        var bpm: UInt16
    }

    protocol Sensor: Sendable {
        var beats: AsyncStream<Beat> { get }
    }

    static var sensor: any Sensor { fatalError() }

    protocol Lamp: Sendable {
        var isOn: Bool { get async }
        var changes: AsyncStream<Bool> { get }
        func set(_ isOn: Bool) async
    }

    protocol Display: Sendable {
        func show(_ passkey: UInt32) async
    }

    static var lamp: any Lamp { fatalError() }
    static var display: any Display { fatalError() }

    static var lampPeripheral: Peripheral { fatalError() }
    static var power: Characteristic<Bool> { fatalError() }
}
