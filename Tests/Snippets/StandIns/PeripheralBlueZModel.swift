import PeripheralBlueZModel
import PeripheralKit

enum PeripheralBlueZModelStandIns {
    static var advertisement: Advertisement { fatalError() }
    static var arguments: [String] { fatalError() }
    static var peripheral: Peripheral { fatalError() }
}
