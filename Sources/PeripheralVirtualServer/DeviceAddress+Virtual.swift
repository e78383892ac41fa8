package import PeripheralCore

extension DeviceAddress {
    /// The default address of a virtual host, which belongs to no manufacturer.
    package static let virtualHost = virtual(0x02AA_0100_0042)

    /// A static random address.
    static func virtualCentral(number: Int) -> DeviceAddress {
        virtual(0xF000_0000_0000 + UInt64(number))
    }

    private static func virtual(_ number: UInt64) -> DeviceAddress {
        guard let address = DeviceAddress(rawValue: number) else {
            preconditionFailure("A virtual address has at most 48 bits.")
        }
        return address
    }
}
