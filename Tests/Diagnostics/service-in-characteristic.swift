// put the GATTService in the Peripheral, not in a Characteristic
import PeripheralKit

let level = Characteristic<UInt8>(0x2A19, value: 1)
let outer = Characteristic<UInt8>(0x2A38, value: 2) {
    GATTService(0x180F) { level }
}
