// put the Authorization in a Characteristic, not in the Peripheral
import PeripheralKit

let peripheral = Peripheral("Level") { Authorization { true } }
