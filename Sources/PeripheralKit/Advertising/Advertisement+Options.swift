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
        /// It is never discoverable (Core Specification, Vol 3, Part C, 9.1.1).
        public static let broadcast = Kind(name: .broadcast)
    }

    /// Whether phones show the peripheral when they search for new devices (Core Specification, Vol 3, Part C, 9.2).
    ///
    /// Programs find it by its services in any case.
    public struct Discoverability: Hashable, Sendable {
        package enum Mode: Hashable {
            case never, limited(Duration), general
        }

        package let mode: Mode

        /// Not.
        public static let never = Discoverability(mode: .never)
        /// Always.
        public static let general = Discoverability(mode: .general)

        /// For this time after it gets on the air: whole seconds, 1 to 65,535; thereafter not.
        ///
        /// While it lasts, the flags say *limited discoverable*. The specification has at most 180 seconds.
        public static func limited(for time: Duration) -> Discoverability {
            Discoverability(mode: .limited(time))
        }

        /// For how long; `nil` where there is no limit.
        public var limit: Duration? {
            if case .limited(let time) = mode { time } else { nil }
        }
    }

    /// What becomes of an advertisement while a central is connected.
    public struct ConnectedBehavior: Hashable, Sendable {
        private enum Name {
            case keepAdvertising, pause
        }

        private let name: Name

        /// It stays on the air, so that further centrals find the peripheral and can connect.
        public static let keepAdvertising = ConnectedBehavior(name: .keepAdvertising)
        /// It leaves the air with the first connection, and comes back with the end of the last.
        public static let pause = ConnectedBehavior(name: .pause)
    }

    /// What a scanner gets that asks for more (Core Specification, Vol 6, Part B, 4.4.3).
    ///
    /// The name goes there by itself. The rest needs BlueZ 5.80 or later. There are 31 bytes, and none at all for a
    /// connectable advertisement on a secondary channel.
    public struct ScanResponse: Hashable, Sendable {
        /// The services by which centrals find the peripheral.
        public var services: [BluetoothUUID]
        /// The services that the peripheral looks for in centrals.
        public var solicitedServices: [BluetoothUUID]
        /// The manufacturer's own data, by company identifier.
        public var manufacturerData: [UInt16: [UInt8]]
        /// Data that belongs to a service.
        public var serviceData: [BluetoothUUID: [UInt8]]
        /// Structures of other kinds, by their number.
        public var rawData: [AdvertisingStructure.DataType: [UInt8]]

        /// Declares a scan response; what is not named is left out.
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

        /// Whether it holds nothing but the name.
        public var isEmpty: Bool { self == ScanResponse() }
    }
}
