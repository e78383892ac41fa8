// put the Authorization in a Characteristic, not in a Descriptor
import PeripheralKit

let descriptor = Descriptor<UInt8>(0x2906) { Authorization { true } }
