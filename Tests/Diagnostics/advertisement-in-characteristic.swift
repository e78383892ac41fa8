// put the Advertisement in the Peripheral, not in a Characteristic
import PeripheralKit

let level = Characteristic<UInt8>(0x2A19, value: 1) { Advertisement(localName: "Level") }
