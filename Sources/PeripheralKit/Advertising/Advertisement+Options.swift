public import PeripheralCore

extension Advertisement {
    /// Whether centrals can connect.
    public struct Kind: Hashable, Sendable {
        private enum Name {
            case connectable, broadcast
        }

        private let name: Name

        /// Centrals can connect.
        public static let connectable = Kind(name: .connectable)
        /// Centrals only listen, as to a beacon.
        ///
        /// A broadcast is never discoverable (Core Specification, Vol 3, Part C, 9.1.1).
        public static let broadcast = Kind(name: .broadcast)
    }

    /// Whether phones list the peripheral when they search for new devices.
    ///
    /// Programs on a central find the peripheral by its services in any case. See Core Specification, Vol 3,
    /// Part C, 9.2.
    public struct Discoverability: Hashable, Sendable {
        package enum Mode: Hashable {
            case never, limited(Duration), general
        }

        package let mode: Mode

        /// Never discoverable.
        public static let never = Discoverability(mode: .never)
        /// Always discoverable.
        public static let general = Discoverability(mode: .general)

        /// Discoverable for this time after the advertisement goes on the air; whole seconds, 1 to 65,535.
        ///
        /// During this time, the flags are *limited discoverable*. The specification allows at most 180
        /// seconds.
        public static func limited(for time: Duration) -> Discoverability {
            Discoverability(mode: .limited(time))
        }

        /// The time for which the peripheral is discoverable; `nil` if there is no limit.
        public var limit: Duration? {
            if case .limited(let time) = mode { time } else { nil }
        }
    }

    /// What happens to an advertisement while a central is connected.
    public struct ConnectedBehavior: Hashable, Sendable {
        private enum Name {
            case keepAdvertising, pause
        }

        private let name: Name

        /// The advertisement stays on the air, so that further centrals can find the peripheral and connect.
        public static let keepAdvertising = ConnectedBehavior(name: .keepAdvertising)
        /// The advertisement is off the air from the first connection until the last one ends.
        public static let pause = ConnectedBehavior(name: .pause)
    }

    /// Further data that a scanner can ask for (Core Specification, Vol 6, Part B, 4.4.3).
    ///
    /// The name is put there automatically. Not every Bluetooth stack can send other data. A scan response
    /// has 31 bytes; a connectable advertisement on a secondary channel has none.
    public struct ScanResponse: Hashable, Sendable {
        /// The services that centrals can find the peripheral by.
        public var services: [BluetoothUUID]
        /// The services that the peripheral looks for in centrals.
        public var solicitedServices: [BluetoothUUID]
        /// The manufacturer's own data, by company identifier.
        public var manufacturerData: [UInt16: [UInt8]]
        /// Data that belongs to a service.
        public var serviceData: [BluetoothUUID: [UInt8]]
        /// Structures of other kinds, by their number.
        public var rawData: [AdvertisingStructure.DataType: [UInt8]]

        /// Creates a scan response.
        ///
        /// Arguments that are left out add nothing.
        public init(
            services: [BluetoothUUID] = [],
            solicitedServices: [BluetoothUUID] = [],
            manufacturerData: [UInt16: [UInt8]] = [:],
            serviceData: [BluetoothUUID: [UInt8]] = [:],
            rawData: [AdvertisingStructure.DataType: [UInt8]] = [:]
        ) {
            self.services = services
            self.solicitedServices = solicitedServices
            self.manufacturerData = manufacturerData
            self.serviceData = serviceData
            self.rawData = rawData
        }

        /// Whether the scan response contains nothing but the name.
        public var isEmpty: Bool { self == ScanResponse() }
    }
}
