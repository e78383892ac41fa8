// use the value type of the Characteristic for the responses of the ControlPoint
import PeripheralKit

let controlPoint = Characteristic<Bool>(0x2A52, [.write, .indicate]) {
    ControlPoint { (request: UInt8) in request }
}
