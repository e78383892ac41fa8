// put the PresentationFormat in a Characteristic, not in the Peripheral
import PeripheralKit

let peripheral = Peripheral("Level") { PresentationFormat(.uint8, unit: .percentage) }
