// put the AggregateFormat in a Characteristic, not in a GATTService
import PeripheralKit

let service = GATTService(0x180F) { AggregateFormat() }
