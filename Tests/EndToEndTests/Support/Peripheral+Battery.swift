import PeripheralKit

extension Peripheral {
    /// A small one.
    static let battery = Peripheral("Battery") {
        GATTService(.battery) { Characteristic<UInt8>.batteryLevel }
    }
}

extension Characteristic<UInt8> {
    static let batteryLevel = Characteristic<UInt8>(0x2A19, [.read, .notify]) { Read { 99 } }
}
