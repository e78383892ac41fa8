// put the Descriptor in a Characteristic, not in a Descriptor
import PeripheralKit

let descriptor = Descriptor<UInt8>(0x2906) {
    Descriptor<UInt8>(0x2906, value: 1)
}
