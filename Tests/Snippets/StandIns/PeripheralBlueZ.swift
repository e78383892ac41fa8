import PeripheralBlueZ
import PeripheralKit

enum PeripheralBlueZStandIns {
    static var peripheral: Peripheral { fatalError() }
}
