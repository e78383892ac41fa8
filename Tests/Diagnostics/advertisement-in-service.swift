// put the Advertisement in the Peripheral, not in a GATTService
import PeripheralKit

let service = GATTService(0x180F) { Advertisement(localName: "Level") }
