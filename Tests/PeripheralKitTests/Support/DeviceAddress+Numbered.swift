import PeripheralCore

extension DeviceAddress {
    /// One of many addresses.
    static func numbered(_ number: UInt8) -> DeviceAddress {
        guard let address = DeviceAddress(rawValue: 0xC0FF_EE00_0000 | UInt64(number)) else {
            preconditionFailure("48 bits are an address")
        }
        return address
    }
}
