// put the PresentationFormat in a Characteristic, not in a GATTService
import PeripheralKit

let service = GATTService(0x180F) { PresentationFormat(.uint8, unit: .percentage) }
