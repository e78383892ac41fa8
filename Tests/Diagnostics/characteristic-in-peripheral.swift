// put the Characteristic in a GATTService, not in the Peripheral
import PeripheralKit

let level = Characteristic<UInt8>(0x2A19, value: 1)
let peripheral = Peripheral("Level") { level }
