// put the ControlPoint in a Characteristic, not in the Peripheral
import PeripheralKit

let declaration = Peripheral("Lamp") {
    ControlPoint { (request: UInt8) in request }
}
