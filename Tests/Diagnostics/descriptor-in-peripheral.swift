// put the Descriptor in a Characteristic, not in the Peripheral
import PeripheralKit

let peripheral = Peripheral("Level") { Descriptor<UInt8>(0x2906, value: 1) }
