// cannot convert value of type 'String' to closure result type 'UInt8'
import PeripheralKit

let level = Characteristic<UInt8>(0x2A19, .read) {
    Read { "full" }
}
