// put WriteStream in a Characteristic, not in the Peripheral
import PeripheralKit

let peripheral = Peripheral("Level") {
    WriteStream<UInt8>()
}
