// put Read in a Characteristic, not in the Peripheral
import PeripheralKit

let peripheral = Peripheral("Level") {
    Read { 1 as UInt8 }
}
