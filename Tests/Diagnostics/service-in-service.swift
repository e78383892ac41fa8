// put the GATTService in the Peripheral, not in a GATTService
import PeripheralKit

let level = Characteristic<UInt8>(0x2A19, value: 1)
let outer = GATTService(0x180A) {
    GATTService(0x180F) { level }
}
