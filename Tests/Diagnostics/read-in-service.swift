// put Read in a Characteristic, not in a GATTService
import PeripheralKit

let service = GATTService(0x180F) {
    Read { 1 as UInt8 }
}
