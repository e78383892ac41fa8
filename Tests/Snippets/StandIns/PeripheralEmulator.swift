import PeripheralEmulator
import PeripheralKit

enum PeripheralEmulatorStandIns {
    static var peripheral: Peripheral { fatalError() }
}
