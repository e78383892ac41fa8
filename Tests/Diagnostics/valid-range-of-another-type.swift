// give the ValidRange bounds of the characteristic's own type
import PeripheralKit

let level = Characteristic<UInt8>(0x2A19, value: 1) { ValidRange("a"..."z") }
