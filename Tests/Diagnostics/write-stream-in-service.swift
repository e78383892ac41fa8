// put WriteStream in a Characteristic, not in a GATTService
import PeripheralKit

let service = GATTService(0x180F) {
    WriteStream<UInt8>()
}
