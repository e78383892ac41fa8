// cannot find 'Characteristic' in scope
import PeripheralCore

let level = Characteristic<UInt8>(0x2A19, value: 1)
