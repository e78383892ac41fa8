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

    actor Lamp {
        nonisolated let changes = AsyncStream<Bool>.makeStream().stream
        private(set) var isOn = false
        func set(_ isOn: Bool) { self.isOn = isOn }
    }

    /// The service of README.md.
    struct LampService: GATTServiceDeclaration {
        let power = Characteristic<Bool>("5c3a0002-7e3c-4b6e-9d29-b3f1c0a1d001", value: true)
        let lamp: Lamp

        var service: GATTService { GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001") { power } }
    }

    protocol Display: Sendable {
        func show(_ passkey: UInt32) async
    }

    static let lamp = Lamp()
    static var display: any Display { fatalError() }
}
