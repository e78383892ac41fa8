// put the Characteristic in a GATTService, not in a Characteristic
import PeripheralKit

let inner = Characteristic<UInt8>(0x2A19, value: 1)
let outer = Characteristic<UInt8>(0x2A38, value: 2) { inner }
