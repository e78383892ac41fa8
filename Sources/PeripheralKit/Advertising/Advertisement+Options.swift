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
        /// Centrals can only receive the advertisement, as from a beacon.
        ///
        /// A broadcast is never discoverable (Core Specification, Vol 3, Part C, 9.1.1).
        public static let broadcast = Kind(name: .broadcast)
    }

    /// Whether phones list the peripheral when they search for new devices.
    ///
    /// Programs on a central can always find the peripheral by its services. See Core Specification, Vol 3,
    /// Part C, 9.2.
    public struct Discoverability: Hashable, Sendable {
        package enum Mode: Hashable {
            case never, limited(Duration), general
        }

        package let mode: Mode

        /// The peripheral is never discoverable.
        public static let never = Discoverability(mode: .never)
        /// The peripheral is always discoverable.
        public static let general = Discoverability(mode: .general)

        /// The peripheral is discoverable for a limited time after the advertisement goes on the air.
        ///
        /// The time is in whole seconds, 1 to 65,535. During this time, the flags are *limited discoverable*.
        /// The specification allows at most 180 seconds.
        public static func limited(for time: Duration) -> Discoverability {
            Discoverability(mode: .limited(time))
        }

        /// The time for which the peripheral is discoverable; `nil` if there is no limit.
        public var limit: Duration? {
            if case .limited(let time) = mode { time } else { nil }
        }
    }

    /// The treatment of an advertisement while a central is connected.
    public struct ConnectedBehavior: Hashable, Sendable {
        private enum Name {
            case keepAdvertising, pause
        }

        private let name: Name

        /// The advertisement stays on the air.
        ///
        /// Further centrals can find the peripheral and connect.
        public static let keepAdvertising = ConnectedBehavior(name: .keepAdvertising)
        /// The advertisement is off the air from the first connection until the last connection ends.
        public static let pause = ConnectedBehavior(name: .pause)
    }

    /// Further data that a scanner can request (Core Specification, Vol 6, Part B, 4.4.3).
    ///
    /// The stack adds the name to the scan response automatically. Not every Bluetooth stack can send other
    /// data in a scan response. A scan response can contain 31 bytes. A connectable advertisement on a
    /// secondary channel has no scan response.
    public struct ScanResponse: Hashable, Sendable {
        /// The services by which centrals can find the peripheral.
        public var services: [BluetoothUUID]
        /// The services that the peripheral looks for in centrals.
        public var solicitedServices: [BluetoothUUID]
        /// The manufacturer-specific data, by company identifier.
        public var manufacturerData: [UInt16: [UInt8]]
        /// The data that belongs to services, by the UUID of the service.
        public var serviceData: [BluetoothUUID: [UInt8]]
        /// Structures of other types, by the number of the type.
        public var rawData: [AdvertisingStructure.DataType: [UInt8]]

        /// Creates a scan response.
        ///
        /// An argument with its default value adds nothing to the scan response.
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
