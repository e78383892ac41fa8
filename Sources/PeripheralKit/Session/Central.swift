public import PeripheralCore

/// A central, as it was at the time of a request or an event.
///
/// Two values are equal if they identify the same central. Their other properties may differ. For example,
/// the MTU can grow during a connection.
public struct Central: Sendable, Hashable, Identifiable {
    /// Identifies a central among all centrals that the stack knows.
    ///
    /// The identity of a central is valid at least as long as the connection. For a bonded central, it is
    /// usually valid as long as the stack runs.
    ///
    /// The address in the identity can differ from ``Central/address``, because a central with a changing
    /// address reveals its permanent address when it bonds.
    public struct ID: Hashable, Sendable, CustomStringConvertible {
        package let address: DeviceAddress

        /// Creates the identity of the central with this address.
        ///
        /// This initializer is for backends and tests.
        public init(address: DeviceAddress) {
            self.address = address
        }

        /// The address that identifies the central.
        public var description: String { address.description }
    }

    /// One connection of a central, distinct from its earlier and later connections.
    public struct Connection: Hashable, Sendable {
        let central: ID
        let number: UInt64
        let numbers: ConnectionNumbers

        /// Whether the connection is open; `false` if the session is no longer valid.
        public var isOpen: Bool { !numbers.areOver && numbers.isCurrent(number, of: central) }

        /// Returns whether both values identify the same connection.
        public static func == (lhs: Connection, rhs: Connection) -> Bool {
            lhs.central == rhs.central && lhs.number == rhs.number && lhs.numbers === rhs.numbers
        }

        /// Hashes the properties that identify the connection.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(central)
            hasher.combine(number)
        }
    }

    /// The address under which the stack knows the central.
    ///
    /// For a bonded central, this is the identity address. A central that is not bonded usually has a random
    /// address that changes. Do not store such an address to recognize a central later.
    public let address: DeviceAddress

    /// Whether the address is public or random; `nil` if the stack does not report it.
    public let addressKind: DeviceAddress.Kind?

    /// Whether the central has paired with this device and both store the keys.
    public let isBonded: Bool

    /// The maximum size of an ATT packet to or from this central; 23 to 517 bytes.
    public let mtu: Int

    /// Identifies the central.
    public let id: ID

    /// The maximum number of bytes in one notification or indication.
    ///
    /// The maximum is the MTU minus the 3 bytes of the header (Core Specification, Vol 3, Part F, 3.4.7).
    public var maximumUpdateValueLength: Int { mtu - 3 }

    /// Creates a central.
    ///
    /// This initializer is for backends and tests.
    ///
    /// - Parameters:
    ///   - address: The address of the central.
    ///   - addressKind: Whether the address is public or random.
    ///   - isBonded: Whether the central is bonded.
    ///   - mtu: The maximum size of an ATT packet, clamped to 23 through 517 bytes.
    ///   - id: The identity; by default, it is derived from the address.
    public init(
        address: DeviceAddress,
        addressKind: DeviceAddress.Kind? = nil,
        isBonded: Bool = false,
        mtu: Int = 23,
        id: ID? = nil
    ) {
        self.id = id ?? ID(address: address)
        self.address = address
        self.addressKind = addressKind
        self.isBonded = isBonded
        self.mtu = min(max(mtu, 23), 517)
    }

    /// Returns whether both values identify the same central.
    public static func == (lhs: Central, rhs: Central) -> Bool {
        lhs.id == rhs.id
    }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
    }
}
