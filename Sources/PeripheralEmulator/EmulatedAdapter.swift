public import PeripheralKit

/// A Bluetooth adapter that exists in an ``EmulatedBlueZ`` only.
public struct EmulatedAdapter: Hashable, Sendable, ExpressibleByStringLiteral {
    /// A kind of adapter: what its way of advertising implies.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        private enum Name: String {
            case legacy, extended
        }

        private let name: Name

        /// Bluetooth 4.2: the advertising goes on while centrals are connected.
        public static let legacy = Kind(name: .legacy)

        /// Bluetooth 5: a connection stops the advertising until it is registered again, or until a connection ends.
        ///
        /// bluetoothd tells each advertisement the transmission power, and knows secondary channels.
        public static let extended = Kind(name: .extended)

        /// The kind's name.
        public var description: String { name.rawValue }
    }

    /// The name, such as `hci0`: the last part of the object path.
    public var name: String

    /// What the adapter can do.
    public var kind: Kind

    /// Whether it is switched on when bluetoothd starts.
    public var isPowered: Bool

    /// The public address.
    public var address: DeviceAddress

    /// Describes an adapter.
    ///
    /// - Parameters:
    ///   - name: The name: `hci` and a number.
    ///   - kind: What the adapter can do.
    ///   - isPowered: Whether it is switched on when bluetoothd starts.
    ///   - address: The public address; `nil` for one that follows from the name.
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

    /// An adapter of Bluetooth 5 that is switched on.
    public init(stringLiteral name: String) {
        self.init(name)
    }
}

extension DeviceAddress {
    /// One for each name of an adapter: its bytes are spread over the part that is not the manufacturer's.
    fileprivate static func adapter(named name: String) -> DeviceAddress {
        let number = name.utf8.reduce(0x0100 as UInt64) { ($0 &* 31 &+ UInt64($1)) & 0xFF_FFFF }
        guard let address = DeviceAddress(rawValue: 0x00AA_0100_0000 & 0xFFFF_FF00_0000 | number) else {
            preconditionFailure("An address has 48 bits.")
        }
        return address
    }
}
