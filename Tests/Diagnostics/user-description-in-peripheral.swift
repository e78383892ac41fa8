// put the UserDescription in a Characteristic, not in the Peripheral
import PeripheralKit

let peripheral = Peripheral("Level") { UserDescription("Level") }
