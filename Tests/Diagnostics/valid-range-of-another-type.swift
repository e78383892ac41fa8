// use the value type of the Characteristic for the bounds of the ValidRange
import PeripheralKit

let level = Characteristic<UInt8>(0x2A19, value: 1) { ValidRange("a"..."z") }
