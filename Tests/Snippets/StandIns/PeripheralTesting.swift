import PeripheralBlueZ
import PeripheralKit
import PeripheralTesting
import Testing

enum PeripheralTestingStandIns {
    static var peripheral: Peripheral { fatalError() }

    static var lamp: Peripheral { fatalError() }
    static var lampPeripheral: Peripheral { fatalError() }
    static var power: Characteristic<Bool> { fatalError() }
    static var session: PeripheralSession { fatalError() }
    static var central: VirtualCentral { fatalError() }

    @Sendable static func shownNumber() async -> UInt32 { fatalError() }
}
