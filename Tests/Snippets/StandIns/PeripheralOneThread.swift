import Glibc
import PeripheralBlueZ
import PeripheralKit
import PeripheralOneThread

enum PeripheralOneThreadStandIns {
    protocol Lamp: Sendable {
        var peripheral: Peripheral { get }
        func reload() async
    }

    static var lamp: any Lamp { fatalError() }
}
