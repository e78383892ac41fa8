public import PeripheralCore

/// The data that a peripheral broadcasts to all devices in range.
///
/// Centrals use the advertisement to find the peripheral. If a peripheral declares no advertisement, the
/// peripheral advertises its name and its primary services. If the advertisement is too small for all primary
/// services, the peripheral advertises only the services that fit.
///
/// ```swift
/// Advertisement(localName: "Lamp", manufacturerData: [0x0059: [1, 2]])
/// ```
///
/// A legacy advertisement can contain up to 31 bytes. The flags of a legacy advertisement use 3 of the 31
/// bytes. The Bluetooth stack sends the name of the peripheral in the scan response. The scan response can
/// contain up to 31 additional bytes. Bluetooth 5 adapters can send longer advertisements with extended
/// advertising. Only Bluetooth 5 scanners can receive extended advertisements. The method `plan(for:)`
/// returns all bytes that the adapter sends for the advertisement:
///
/// ```swift
/// print(Advertisement(localName: "Lamp", services: [.battery]).plan(for: .legacy))
/// ```
///
/// An advertisement is sent every 100 to 152.5 ms, so centrals find the peripheral quickly. To save power
/// later, let the advertisement slow down:
///
/// ```swift
/// Advertisement(slowing: .after(.seconds(30)))
/// ```
///
/// The Core Specification defines advertising in Vol 3, Part C, sections 9 and 11. Part A of the Core
/// Specification Supplement defines the data types of advertisements.
public struct Advertisement: Hashable, Sendable {
    /// Whether centrals can connect to the peripheral.
    public var kind: Kind

    /// The advertised name, or `nil` for the name of the peripheral.
    public var localName: String?

    /// The UUIDs of the advertised services, by which centrals can find the peripheral.
    ///
    /// If `services` is `nil`, the peripheral advertises the declared primary services that fit into the
    /// advertisement.
    public var services: [BluetoothUUID]?

    /// The UUIDs of the services that a central should provide.
    ///
    /// The Core Specification Supplement defines solicited services in Part A, section 1.10.
    public var solicitedServices: [BluetoothUUID]

    /// The manufacturer-specific data for each company identifier (Assigned Numbers, 7.1).
    public var manufacturerData: [UInt16: [UInt8]]

    /// The service data for each service UUID.
    public var serviceData: [BluetoothUUID: [UInt8]]

    /// The bytes for additional advertising data types (Assigned Numbers, 2.3).
    ///
    /// Use `rawData` for the data types that have no property in `Advertisement`.
    public var rawData: [AdvertisingStructure.DataType: [UInt8]]

    /// The appearance number of the device, such as 0x0340 for a heart rate sensor.
    ///
    /// Section 2.6 of Assigned Numbers lists the appearance numbers.
    public var appearance: UInt16?

    /// The data fields that the Bluetooth stack adds to the advertisement.
    public var includes: Set<AdvertisingInclude>

    /// The data in the scan response, in addition to the name of the peripheral.
    public var scanResponse: ScanResponse

    /// Whether phones list the peripheral when they search for new devices.
    public var discoverability: Discoverability

    /// The advertising interval, or `nil` for `AdvertisingInterval.fast`.
    ///
    /// Some Bluetooth stacks do not let the program choose the interval.
    public var interval: AdvertisingInterval?

    /// The longer interval after some time, or `nil` if the interval stays the same.
    ///
    /// The time begins again when the peripheral is published, when the program or a change of the services
    /// changes an advertisement, and when a central disconnects. The advertisement then has its first
    /// interval.
    public var slowing: AdvertisingSlowdown?

    /// The transmit power, or `nil` for the default transmit power of the controller.
    public var transmitPower: TransmitPower?

    /// The secondary channel for extended advertising.
    ///
    /// If `secondaryChannel` is `nil`, the peripheral uses legacy advertising for data that fits into a
    /// legacy advertisement.
    public var secondaryChannel: SecondaryChannel?

    /// The time after which the adapter switches to the next advertisement.
    ///
    /// If `duration` is `nil`, the default duration of the Bluetooth stack applies.
    public var duration: Duration?

    /// The time after which the advertising stops.
    ///
    /// The value is `nil` if the advertising continues until the run ends.
    public var timeout: Duration?

    /// Whether the advertising continues or pauses while a central is connected.
    public var whileConnected: ConnectedBehavior

    /// Creates an advertisement.
    ///
    /// The method `Peripheral.validate()` checks the advertisement together with the declaration of the
    /// peripheral.
    ///
    /// - Parameters:
    ///   - kind: Whether centrals can connect to the peripheral: `.connectable` or `.broadcast`.
    ///   - localName: The advertised name, or `nil` for the name of the peripheral.
    ///   - services: The UUIDs of the advertised services, by which centrals can find the peripheral. If
    ///     `services` is `nil`, the peripheral advertises the declared primary services that fit into the
    ///     advertisement, in the order of the declaration.
    ///   - solicitedServices: The UUIDs of the services that a central should provide.
    ///   - manufacturerData: The manufacturer-specific data for each company identifier.
    ///   - serviceData: The service data for each service UUID.
    ///   - rawData: The bytes for additional advertising data types. Use `rawData` for the data types that
    ///     have no parameter in the initializer.
    ///   - appearance: The appearance number, which identifies the kind of device.
    ///   - includes: The data fields that the Bluetooth stack adds to the advertisement, such as `.txPower`.
    ///   - scanResponse: The data in the scan response, in addition to the name of the peripheral. On some
    ///     Bluetooth stacks, a scan response can contain the name, but no other data.
    ///   - discoverability: Whether phones list the peripheral when they search for new devices. The default
    ///     value is `.general` for a connectable advertisement, and `.never` for a broadcast advertisement.
    ///   - interval: The advertising interval, such as `.every(.milliseconds(100))`. With `nil`, the interval
    ///     is `.fast`, which is 100 to 152.5 ms. Some Bluetooth stacks do not let the program choose the
    ///     advertising interval.
    ///   - slowing: The longer interval after some time, such as `.after(.seconds(30))`. With `nil`, the
    ///     interval stays the same.
    ///   - transmitPower: The transmit power, such as `.dBm(4)`. Some Bluetooth stacks do not let the program
    ///     choose the transmit power.
    ///   - secondaryChannel: The secondary channel for extended advertising. Only Bluetooth 5 scanners can
    ///     receive extended advertisements.
    ///   - duration: The time after which the adapter switches to the next advertisement, in whole seconds
    ///     from 1 to 65,535.
    ///   - timeout: The time after which the advertising stops, in whole seconds from 1 to 65,535.
    ///   - whileConnected: Whether the advertising continues or pauses while a central is connected.
    public init(
        _ kind: Kind = .connectable,
        localName: String? = nil,
        services: [BluetoothUUID]? = nil,
        solicitedServices: [BluetoothUUID] = [],
        manufacturerData: [UInt16: [UInt8]] = [:],
        serviceData: [BluetoothUUID: [UInt8]] = [:],
        rawData: [AdvertisingStructure.DataType: [UInt8]] = [:],
        appearance: UInt16? = nil,
        includes: Set<AdvertisingInclude> = [],
        scanResponse: ScanResponse = ScanResponse(),
        discoverability: Discoverability? = nil,
        interval: AdvertisingInterval? = nil,
        slowing: AdvertisingSlowdown? = nil,
        transmitPower: TransmitPower? = nil,
        secondaryChannel: SecondaryChannel? = nil,
        duration: Duration? = nil,
        timeout: Duration? = nil,
        whileConnected: ConnectedBehavior = .keepAdvertising
    ) {
        self.kind = kind
        self.localName = localName
        self.services = services
        self.solicitedServices = solicitedServices
        self.manufacturerData = manufacturerData
        self.serviceData = serviceData
        self.rawData = rawData
        self.appearance = appearance
        self.includes = includes
        self.scanResponse = scanResponse
        self.discoverability = discoverability ?? (kind == .connectable ? .general : .never)
        self.interval = interval
        self.slowing = slowing
        self.transmitPower = transmitPower
        self.secondaryChannel = secondaryChannel
        self.duration = duration
        self.timeout = timeout
        self.whileConnected = whileConnected
    }
}

// MARK: - Options

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
        ///
        /// Linux sends a broadcast advertisement from a random private address. The address changes when the
        /// advertisement starts and when it changes. A receiver that identifies a device by its address needs
        /// a ``connectable`` advertisement, which has the address of the adapter.
        public static let broadcast = Kind(name: .broadcast)
    }

    /// Whether phones list the peripheral when they search for new devices.
    ///
    /// Even if phones do not list the peripheral, a program on a central can find the peripheral by the UUID
    /// of a service. The Core Specification defines the discoverability modes in Vol 3, Part C, 9.2.
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
        /// The `time` parameter is a number of whole seconds from 1 to 65,535. While the peripheral is
        /// discoverable, the flags of the advertisement indicate the *LE Limited Discoverable Mode*. The Core
        /// Specification allows at most 180 seconds of limited discoverability.
        public static func limited(for time: Duration) -> Discoverability {
            Discoverability(mode: .limited(time))
        }

        /// The time limit for discoverability, or `nil` if there is no time limit.
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
        /// While one central is connected, other centrals can find the peripheral and connect to it.
        public static let keepAdvertising = ConnectedBehavior(name: .keepAdvertising)
        /// The advertising pauses while at least one central is connected.
        public static let pause = ConnectedBehavior(name: .pause)
    }

    /// The data that a scanner can request after it has received an advertisement.
    ///
    /// See Core Specification, Vol 6, Part B, 4.4.3.
    ///
    /// The Bluetooth stack automatically adds the name of the peripheral to the scan response. On some
    /// Bluetooth stacks, a scan response can contain the name, but no other data. A scan response can contain
    /// up to 31 bytes. A connectable advertisement on a secondary advertising channel has no scan response.
    public struct ScanResponse: Hashable, Sendable {
        /// The service UUIDs in the scan response.
        ///
        /// Centrals can use the service UUIDs to find the peripheral.
        public var services: [BluetoothUUID]
        /// The UUIDs of the services that a central should provide.
        public var solicitedServices: [BluetoothUUID]
        /// The manufacturer-specific data for each company identifier.
        public var manufacturerData: [UInt16: [UInt8]]
        /// The service data for each service UUID.
        public var serviceData: [BluetoothUUID: [UInt8]]
        /// The bytes for additional advertising data types.
        ///
        /// Use `rawData` for the data types that have no property in `ScanResponse`.
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
