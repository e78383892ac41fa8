// put the ValidRange in a Characteristic, not in the Peripheral
import PeripheralKit

let peripheral = Peripheral("Level") { ValidRange(0...(100 as UInt8)) }
