// put the Descriptor in a Characteristic, not in a GATTService
import PeripheralKit

let service = GATTService(0x180F) {
    Descriptor<UInt8>(0x2906, value: 1)
}
