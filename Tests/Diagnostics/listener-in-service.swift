// put the L2CAPListener in the Peripheral, not in a GATTService
import PeripheralKit

let service = GATTService(0x180F) { L2CAPListener { _ in } }
