public import PeripheralCore

/// A central, as it was at the time of a request or an event.
///
/// Two values are equal when they denote the same central: the MTU may grow during a connection.
public struct Central: Sendable, Hashable, Identifiable {
    /// What tells a central from all others that the stack knows at the time.
    ///
    /// It lasts as long as the connection at least; that of a bonded central usually as long as the stack runs. It may
    /// be made of another address than ``Central/address``: a central that hides behind a changing address shows its
    /// lasting one when it bonds.
    public struct ID: Hashable, Sendable, CustomStringConvertible {
        package let address: DeviceAddress

        /// Makes the identity of the central with this address, for backends and tests.
        public init(address: DeviceAddress) {
            self.address = address
        }

        /// The address that it is made of.
        public var description: String { address.description }
    }

    /// One of the connections that a central has in the course of time.
    public struct Connection: Hashable, Sendable {
        let central: ID
        let number: UInt64
        let numbers: ConnectionNumbers

        /// Whether it lasts; `false` as well when the session is no longer valid.
        public var isOpen: Bool { !numbers.areOver && numbers.isCurrent(number, of: central) }

        /// Tells whether both are the same connection.
        public static func == (lhs: Connection, rhs: Connection) -> Bool {
            lhs.central == rhs.central && lhs.number == rhs.number && lhs.numbers === rhs.numbers
        }

        /// Hashes what tells it from other connections.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(central)
            hasher.combine(number)
        }
    }

    /// The address under which the stack knows the central.
    ///
    /// It is the identity address of a bonded central. A central that is not bonded usually appears under a
    /// random address, which changes: do not store it in order to recognise somebody.
    public let address: DeviceAddress

    /// Who assigned the address; `nil` where the stack does not tell.
    public let addressKind: DeviceAddress.Kind?

    /// Whether the central has paired and both sides keep the keys.
    public let isBonded: Bool

    /// The size of the largest ATT packet to or from this central, in bytes: 23 to 517.
    public let mtu: Int

    /// What tells it from all other centrals.
    public let id: ID

    /// The most bytes of a value that fit into one notification or indication: the MTU without its 3 bytes of
    /// header (Core Specification, Vol 3, Part F, 3.4.7).
    public var maximumUpdateValueLength: Int { mtu - 3 }

    /// Makes a central, for backends and tests.
    ///
    /// - Parameters:
    ///   - address: Its address.
    ///   - addressKind: Who assigned the address.
    ///   - isBonded: Whether it is bonded.
    ///   - mtu: The size of the largest packet; what is out of bounds is taken to the next bound, 23 or 517.
    ///   - id: What tells it from others; made of the address when left out.
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

    /// Tells whether both are the same central.
    public static func == (lhs: Central, rhs: Central) -> Bool {
        lhs.id == rhs.id
    }

    /// Hashes what tells it from all other centrals.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
    }
}
