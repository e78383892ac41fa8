// put the UserDescription in a Characteristic, not in a GATTService
import PeripheralKit

let service = GATTService(0x180F) { UserDescription("Level") }
