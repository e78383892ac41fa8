// let the ControlPoint return responses of the characteristic's own type
import PeripheralKit

let controlPoint = Characteristic<Bool>(0x2A52, [.write, .indicate]) {
    ControlPoint { (request: UInt8) in request }
}
