import PeripheralBlueZ
import PeripheralKit
import PeripheralTesting
import Testing

enum DocsStandIns {
    protocol Bolt: Sendable {
        func move(toLocked isLocked: Bool) async throws
    }

    static var bolt: any Bolt { fatalError() }
    static var lampPeripheral: Peripheral { fatalError() }
    static var power: Characteristic<Bool> { fatalError() }
    static var text: String { fatalError() }
    static var transfer: Characteristic<[UInt8]> { fatalError() }
    static var upload: Characteristic<[UInt8]> { fatalError() }
    static var session: PeripheralSession { fatalError() }
    static var central: Central { fatalError() }
    static var centrals: [Central] { fatalError() }
}

/// Of the service that the guide makes.
public typealias ExampleResponse = UInt8

extension BluetoothUUID {
    static var example: BluetoothUUID { fatalError() }
    static var exampleMeasurement: BluetoothUUID { fatalError() }
    static var exampleFeature: BluetoothUUID { fatalError() }
}
