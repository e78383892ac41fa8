public import PeripheralCore

extension Advertisement {
    /// Whether centrals can connect to the peripheral.
    public struct Kind: Hashable, Sendable {
        private enum Name {
            case connectable, broadcast
        }

        private let name: Name

        /// Centrals can connect to the peripheral.
        public static let connectable = Kind(name: .connectable)
        /// Centrals can receive the advertisement, but cannot connect to the peripheral.
        ///
        /// Beacons send broadcast advertisements. A peripheral with a broadcast advertisement is never
        /// discoverable (Core Specification, Vol 3, Part C, 9.1.1).
        public static let broadcast = Kind(name: .broadcast)
    }

    /// Whether phones list the peripheral when they search for new devices.
    ///
    /// A program on a central can find the peripheral by its services, even if phones do not list the
    /// peripheral. The Core Specification defines the discoverability modes in Vol 3, Part C, 9.2.
    public struct Discoverability: Hashable, Sendable {
        package enum Mode: Hashable {
            case never, limited(Duration), general
        }

        package let mode: Mode

        /// The peripheral is never discoverable.
        public static let never = Discoverability(mode: .never)
        /// The peripheral is always discoverable.
        public static let general = Discoverability(mode: .general)

        /// The peripheral is discoverable for a limited time after the advertising starts.
        ///
        /// The `time` parameter is a number of whole seconds from 1 to 65,535. During the limited time, the
        /// flags of the advertisement declare the *LE Limited Discoverable Mode*. The Core Specification
        /// allows at most 180 seconds of limited discoverability.
        public static func limited(for time: Duration) -> Discoverability {
            Discoverability(mode: .limited(time))
        }

        /// The time limit of the discoverability, or `nil` if the discoverability has no time limit.
        public var limit: Duration? {
            if case .limited(let time) = mode { time } else { nil }
        }
    }

    /// Whether an advertisement continues or pauses while a central is connected.
    public struct ConnectedBehavior: Hashable, Sendable {
        private enum Name {
            case keepAdvertising, pause
        }

        private let name: Name

        /// The advertising continues while a central is connected.
        ///
        /// Other centrals can find the peripheral and connect to it.
        public static let keepAdvertising = ConnectedBehavior(name: .keepAdvertising)
        /// The advertising pauses from the first connection until the last connection ends.
        public static let pause = ConnectedBehavior(name: .pause)
    }

    /// The additional data that a scanner can request (Core Specification, Vol 6, Part B, 4.4.3).
    ///
    /// The Bluetooth stack automatically adds the name of the peripheral to the scan response. Some Bluetooth
    /// stacks can send only the name in a scan response. A scan response can contain up to 31 bytes. A
    /// connectable advertisement on a secondary advertising channel has no scan response.
    public struct ScanResponse: Hashable, Sendable {
        /// The service UUIDs in the scan response, by which centrals can find the peripheral.
        public var services: [BluetoothUUID]
        /// The UUIDs of the services that the peripheral expects on a central.
        public var solicitedServices: [BluetoothUUID]
        /// The manufacturer-specific data for each company identifier.
        public var manufacturerData: [UInt16: [UInt8]]
        /// The service data for each service UUID.
        public var serviceData: [BluetoothUUID: [UInt8]]
        /// The data for advertising data types without a property in `ScanResponse`.
        public var rawData: [AdvertisingStructure.DataType: [UInt8]]

        /// Creates a scan response.
        ///
        /// An omitted argument adds no data to the scan response.
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

        /// Whether the scan response contains only the name of the peripheral.
        public var isEmpty: Bool { self == ScanResponse() }
    }
}
