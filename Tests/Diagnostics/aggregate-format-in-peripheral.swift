// put the AggregateFormat in a Characteristic, not in the Peripheral
import PeripheralKit

let peripheral = Peripheral("Level") { AggregateFormat() }
