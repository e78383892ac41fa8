import Glibc
import PeripheralBlueZ
import PeripheralKit
import PeripheralOneThread

enum PeripheralOneThreadStandIns {
    protocol Lamp: Sendable {
        var peripheral: Peripheral { get }
    }

    static var lamp: any Lamp { fatalError() }
}
