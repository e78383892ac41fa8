public import PeripheralCore

/// A central that is connected to the peripheral, as it was at the time of a request or an event.
///
/// Two values are equal when they have the same address: the MTU may grow during a connection.
public struct Central: Sendable, Hashable, Identifiable {
    /// The address under which the stack knows the central.
    ///
    /// It is the identity address of a bonded central. A central that is not bonded usually appears under a
    /// random address, which changes: do not store it in order to recognise somebody.
    public let address: DeviceAddress

    /// The size of the largest ATT packet to or from this central, in bytes: 23 to 517.
    public let mtu: Int

    /// The address.
    public var id: DeviceAddress { address }

    /// The most bytes of a value that fit into one notification or indication: the MTU without its 3 bytes of
    /// header (Core Specification, Vol 3, Part F, 3.4.7).
    public var maximumUpdateValueLength: Int { max(0, mtu - 3) }

    /// Makes a central, for backends and tests.
    public init(address: DeviceAddress, mtu: Int = 23) {
        self.address = address
        self.mtu = mtu
    }

    /// Tells whether both have the same address.
    public static func == (lhs: Central, rhs: Central) -> Bool {
        lhs.address == rhs.address
    }

    /// Hashes the address.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(address)
    }
}
