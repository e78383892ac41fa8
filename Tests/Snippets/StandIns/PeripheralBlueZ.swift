import Glibc
import PeripheralBlueZ
import PeripheralKit

enum PeripheralBlueZStandIns {
    protocol Lamp: Sendable {
        var changes: AsyncStream<Bool> { get }
    }

    static var lamp: any Lamp { fatalError() }
    static var peripheral: Peripheral { fatalError() }
    static var power: Characteristic<Bool> { fatalError() }
}
