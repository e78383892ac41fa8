// put the ValidRange in a Characteristic, not in a GATTService
import PeripheralKit

let service = GATTService(0x180F) { ValidRange(0...(100 as UInt8)) }
