// put Write in a Characteristic, not in the Peripheral
import PeripheralKit

let peripheral = Peripheral("Level") {
    Write { (level: UInt8) in print(level) }
}
