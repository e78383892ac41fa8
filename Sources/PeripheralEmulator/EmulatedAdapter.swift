public import PeripheralKit

/// A Bluetooth adapter of an ``EmulatedBlueZ``.
public struct EmulatedAdapter: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The kind of an adapter, which determines how the adapter advertises.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        private enum Name: String {
            case legacy, extended
        }

        private let name: Name

        /// A Bluetooth 4.2 adapter, which continues to advertise while centrals are connected.
        public static let legacy = Kind(name: .legacy)

        /// A Bluetooth 5 adapter, which stops advertising when a central connects.
        ///
        /// The adapter advertises again when the program registers the advertisement again, or when a
        /// connection ends. On a Bluetooth 5 adapter, bluetoothd writes the transmit power to the `TxPower`
        /// property of each advertisement. A Bluetooth 5 adapter supports secondary channels.
        public static let extended = Kind(name: .extended)

        /// The name of the kind, which is `legacy` or `extended`.
        public var description: String { name.rawValue }
    }

    /// The name of the adapter, such as `hci0`.
    ///
    /// The name is the last element of the adapter's D-Bus object path.
    public var name: String

    /// The kind of the adapter.
    public var kind: Kind

    /// Whether the adapter is powered on when bluetoothd starts.
    public var isPowered: Bool

    /// The public address of the adapter.
    public var address: DeviceAddress

    /// Whether the adapter also supports classic Bluetooth, such as the adapter of a Raspberry Pi.
    package var usesClassic = false

    /// Creates an adapter.
    ///
    /// - Parameters:
    ///   - name: The name of the adapter, which consists of `hci` and a number.
    ///   - kind: The kind of the adapter.
    ///   - isPowered: Whether the adapter is powered on when bluetoothd starts.
    ///   - address: The public address of the adapter. If the address is `nil`, the initializer derives an
    ///     address from the name of the adapter.
    public init(
        _ name: String = "hci0",
        kind: Kind = .extended,
        isPowered: Bool = true,
        address: DeviceAddress? = nil
    ) {
        self.name = name
        self.kind = kind
        self.isPowered = isPowered
        self.address = address ?? .adapter(named: name)
    }

    /// Creates a Bluetooth 5 adapter that is powered on.
    public init(stringLiteral name: String) {
        self.init(name)
    }
}

extension DeviceAddress {
    /// Returns a different address for each name.
    ///
    /// The name determines the part of the address that does not identify the manufacturer.
    fileprivate static func adapter(named name: String) -> DeviceAddress {
        let number = name.utf8.reduce(0x0100 as UInt64) { ($0 &* 31 &+ UInt64($1)) & 0xFF_FFFF }
        guard let address = DeviceAddress(rawValue: 0x00AA_0100_0000 & 0xFFFF_FF00_0000 | number) else {
            preconditionFailure("An address has 48 bits.")
        }
        return address
    }
}
