// put Write in a Characteristic, not in a GATTService
import PeripheralKit

let service = GATTService(0x180F) {
    Write { (level: UInt8) in print(level) }
}
