public import PeripheralCore

/// A snapshot of a central at the time of a request or an event.
///
/// Two `Central` values are equal if they have the same ``id``. The comparison ignores all other properties,
/// such as the MTU. For example, the MTU of a central can grow during a connection.
public struct Central: Sendable, Hashable, Identifiable {
    /// Identifies a central among all centrals that the Bluetooth stack knows.
    ///
    /// The identity of a central is valid at least until the connection ends. The identity of a bonded
    /// central is usually valid until the Bluetooth stack stops.
    ///
    /// A central with a changing address reveals its permanent address when it bonds. The address in the
    /// identity of a central can therefore differ from ``Central/address``.
    public struct ID: Hashable, Sendable, CustomStringConvertible {
        package let address: DeviceAddress

        /// Creates the identity of a central from an address.
        ///
        /// Use this initializer only in backends and tests.
        public init(address: DeviceAddress) {
            self.address = address
        }

        /// The address that identifies the central.
        public var description: String { address.description }
    }

    /// A single connection of a central.
    ///
    /// Each connection of the same central has a different value.
    public struct Connection: Hashable, Sendable {
        let central: ID
        let number: UInt64
        let numbers: ConnectionNumbers

        /// Whether the connection is open.
        ///
        /// The property is `false` after the session ends.
        public var isOpen: Bool { !numbers.areOver && numbers.isCurrent(number, of: central) }

        /// Returns whether two values identify the same connection.
        public static func == (lhs: Connection, rhs: Connection) -> Bool {
            lhs.central == rhs.central && lhs.number == rhs.number && lhs.numbers === rhs.numbers
        }

        /// Hashes the properties that identify the connection.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(central)
            hasher.combine(number)
        }
    }

    /// The address by which the Bluetooth stack knows the central.
    ///
    /// The address of a bonded central is its identity address. A central that is not bonded usually has a
    /// random address that changes. Do not use a stored random address to recognize a central later.
    public let address: DeviceAddress

    /// Whether the address is public or random.
    ///
    /// The property is `nil` if the Bluetooth stack does not report the kind of the address.
    public let addressKind: DeviceAddress.Kind?

    /// Whether the central is bonded with this device.
    ///
    /// Two devices are bonded if they have paired and both devices store the keys.
    public let isBonded: Bool

    /// The maximum size of an ATT packet on the connection, from 23 to 517 bytes.
    public let mtu: Int

    /// The timing of the connection, or `nil` if the Bluetooth stack does not report it.
    ///
    /// On BlueZ, the program needs the capability `CAP_NET_RAW`. The timing of a connection that began before
    /// the peripheral was published is unknown until it changes.
    public package(set) var connectionParameters: ConnectionParameters?

    /// Identifies the central.
    public let id: ID

    /// The maximum number of bytes in one notification or indication.
    ///
    /// The maximum is the MTU minus the 3 bytes of the ATT header (Core Specification, Vol 3, Part F, section
    /// 3.4.7).
    public var maximumUpdateValueLength: Int { mtu - 3 }

    /// Creates a central.
    ///
    /// Use this initializer only in backends and tests.
    ///
    /// - Parameters:
    ///   - address: The address of the central.
    ///   - addressKind: Whether the address is public or random.
    ///   - isBonded: Whether the central is bonded.
    ///   - mtu: The maximum size of an ATT packet, limited to the range of 23 to 517 bytes.
    ///   - connectionParameters: The timing of the connection, or `nil` if it is not known.
    ///   - id: The identity of the central. By default, the initializer derives the identity from the
    ///     address.
    public init(
        address: DeviceAddress,
        addressKind: DeviceAddress.Kind? = nil,
        isBonded: Bool = false,
        mtu: Int = 23,
        connectionParameters: ConnectionParameters? = nil,
        id: ID? = nil
    ) {
        self.id = id ?? ID(address: address)
        self.address = address
        self.addressKind = addressKind
        self.isBonded = isBonded
        self.mtu = min(max(mtu, 23), 517)
        self.connectionParameters = connectionParameters
    }

    /// Returns whether two values identify the same central.
    public static func == (lhs: Central, rhs: Central) -> Bool {
        lhs.id == rhs.id
    }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
    }
}

extension Central: CustomStringConvertible {
    /// A text such as `C0:00:00:00:00:01 (random, bonded, MTU 517)`.
    ///
    /// If the Bluetooth stack identifies the central by another address, the text also contains that address.
    public var description: String {
        var details = addressKind.map { ["\($0)"] } ?? []
        if isBonded { details.append("bonded") }
        details.append("MTU \(mtu)")
        if id.address != address { details.append("identified by \(id)") }
        return "\(address) (\(details.joined(separator: ", ")))"
    }
}
