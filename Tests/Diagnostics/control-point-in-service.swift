// put the ControlPoint in a Characteristic, not in a GATTService
import PeripheralKit

let declaration = GATTService(0x180F) {
    ControlPoint { (request: UInt8) in request }
}
