public import PeripheralCore

/// The data that a peripheral sends to everyone in range, so that centrals find it.
///
/// A peripheral without an advertisement advertises its name, and as many of its primary services as fit.
///
/// ```swift
/// Advertisement(localName: "Lamp", manufacturerData: [0x0059: [1, 2]])
/// ```
///
/// An advertisement has 31 bytes, of which the flags take 3. The name has 31 bytes of its own, in the scan
/// response. Bluetooth 5 adapters can send more, but only Bluetooth 5 scanners receive it. ``plan(for:)``
/// returns the advertisement as it is sent, byte by byte:
///
/// ```swift
/// print(Advertisement(localName: "Lamp", services: [.battery]).plan(for: .legacy))
/// ```
///
/// See Core Specification, Vol 3, Part C, 9 and 11, and the Core Specification Supplement, Part A.
public struct Advertisement: Hashable, Sendable {
    /// Whether centrals can connect.
    public var kind: Kind

    /// The name; `nil` for the name of the peripheral.
    public var localName: String?

    /// The services that centrals can find the peripheral by.
    ///
    /// With `nil`, these are the declared primary services that fit.
    public var services: [BluetoothUUID]?

    /// The services that the peripheral looks for in centrals (Core Specification Supplement, Part A, 1.10).
    public var solicitedServices: [BluetoothUUID]

    /// The manufacturer's own data, by company identifier (Assigned Numbers, 7.1).
    public var manufacturerData: [UInt16: [UInt8]]

    /// Data that belongs to a service.
    public var serviceData: [BluetoothUUID: [UInt8]]

    /// Structures of other kinds, by their number (Assigned Numbers, 2.3).
    public var rawData: [AdvertisingStructure.DataType: [UInt8]]

    /// The kind of device (Assigned Numbers, 2.6), such as 0x0340 for a heart rate sensor.
    public var appearance: UInt16?

    /// The fields that the Bluetooth stack adds.
    public var includes: Set<AdvertisingInclude>

    /// The data that a scanner can ask for, besides the name.
    public var scanResponse: ScanResponse

    /// Whether phones list the peripheral when they search for new devices.
    public var discoverability: Discoverability

    /// How often the advertisement is sent; `nil` leaves it to the stack.
    public var interval: AdvertisingInterval?

    /// The transmit power; `nil` leaves it to the controller.
    public var transmitPower: TransmitPower?

    /// The channel for extended advertising; `nil` for legacy advertising, as long as the data fits.
    public var secondaryChannel: SecondaryChannel?

    /// How long each turn lasts, if several advertisements alternate; `nil` leaves it to the stack.
    public var duration: Duration?

    /// The total time on the air; `nil` for as long as the peripheral runs.
    public var timeout: Duration?

    /// What happens to the advertisement while a central is connected.
    public var whileConnected: ConnectedBehavior

    /// Creates an advertisement.
    ///
    /// `Peripheral.validate()` examines it together with the declaration of the peripheral.
    ///
    /// - Parameters:
    ///   - kind: Whether centrals can connect: `.connectable` or `.broadcast`.
    ///   - localName: The name; `nil` for the name of the peripheral.
    ///   - services: The services that centrals can find the peripheral by; `nil` for the declared primary
    ///     services that fit, in their order.
    ///   - solicitedServices: The services that the peripheral looks for in centrals.
    ///   - manufacturerData: The manufacturer's own data, by company identifier.
    ///   - serviceData: Data that belongs to a service.
    ///   - rawData: Structures of kinds that have no parameter here, by their number.
    ///   - appearance: The kind of device.
    ///   - includes: The fields that the Bluetooth stack adds, such as `.txPower`.
    ///   - scanResponse: The data that a scanner can ask for, besides the name. Not every stack supports it.
    ///   - discoverability: Whether phones list the peripheral when they search for new devices; `nil` for
    ///     `.general`, or for `.never` in a broadcast.
    ///   - interval: How often the advertisement is sent, such as `.every(.milliseconds(100))`. Not every
    ///     stack supports it.
    ///   - transmitPower: The transmit power, such as `.dBm(4)`. Not every stack supports it.
    ///   - secondaryChannel: The channel for extended advertising, which only Bluetooth 5 scanners receive.
    ///   - duration: How long the advertisement is sent in its turn, if several take turns; whole seconds, 1
    ///     to 65,535.
    ///   - timeout: How long the advertisement stays on the air in total; whole seconds, 1 to 65,535.
    ///   - whileConnected: What happens to the advertisement while a central is connected.
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
        self.transmitPower = transmitPower
        self.secondaryChannel = secondaryChannel
        self.duration = duration
        self.timeout = timeout
        self.whileConnected = whileConnected
    }
}
