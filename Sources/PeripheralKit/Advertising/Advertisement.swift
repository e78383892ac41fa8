public import PeripheralCore

/// The data that a peripheral broadcasts so that centrals can find it.
///
/// Every device in range can receive an advertisement. If a peripheral declares no advertisement, it
/// advertises its name, and as many of its primary services as fit.
///
/// ```swift
/// Advertisement(localName: "Lamp", manufacturerData: [0x0059: [1, 2]])
/// ```
///
/// An advertisement can contain 31 bytes. The flags use 3 of these bytes. The name is sent in the scan
/// response, which can contain another 31 bytes. Bluetooth 5 adapters can send more data, but only Bluetooth
/// 5 scanners receive these longer advertisements. `plan(for:)` returns every byte that is sent:
///
/// ```swift
/// print(Advertisement(localName: "Lamp", services: [.battery]).plan(for: .legacy))
/// ```
///
/// See Core Specification, Vol 3, Part C, 9 and 11, and the Core Specification Supplement, Part A.
public struct Advertisement: Hashable, Sendable {
    /// Whether centrals can connect.
    public var kind: Kind

    /// The advertised name; `nil` advertises the name of the peripheral.
    public var localName: String?

    /// The services by which centrals can find the peripheral.
    ///
    /// `nil` advertises the declared primary services that fit.
    public var services: [BluetoothUUID]?

    /// The services that the peripheral looks for in centrals (Core Specification Supplement, Part A, 1.10).
    public var solicitedServices: [BluetoothUUID]

    /// The manufacturer-specific data, by company identifier (Assigned Numbers, 7.1).
    public var manufacturerData: [UInt16: [UInt8]]

    /// The data that belongs to services, by the UUID of the service.
    public var serviceData: [BluetoothUUID: [UInt8]]

    /// Structures of other types, by the number of the type (Assigned Numbers, 2.3).
    public var rawData: [AdvertisingStructure.DataType: [UInt8]]

    /// The kind of device (Assigned Numbers, 2.6), such as 0x0340 for a heart rate sensor.
    public var appearance: UInt16?

    /// The fields that the Bluetooth stack adds.
    public var includes: Set<AdvertisingInclude>

    /// The data that a scanner can request, in addition to the name.
    public var scanResponse: ScanResponse

    /// Whether phones list the peripheral when they search for new devices.
    public var discoverability: Discoverability

    /// The interval at which the advertisement is sent; `nil` uses the interval of the stack.
    public var interval: AdvertisingInterval?

    /// The transmit power; `nil` uses the transmit power of the controller.
    public var transmitPower: TransmitPower?

    /// The channel for extended advertising; `nil` uses legacy advertising if the data fits.
    public var secondaryChannel: SecondaryChannel?

    /// The duration of each turn if several advertisements alternate; `nil` uses the duration of the stack.
    public var duration: Duration?

    /// The total time on the air; `nil` if the advertisement stays on the air until the run ends.
    public var timeout: Duration?

    /// The treatment of the advertisement while a central is connected.
    public var whileConnected: ConnectedBehavior

    /// Creates an advertisement.
    ///
    /// `Peripheral.validate()` examines the advertisement together with the declaration of the peripheral.
    ///
    /// - Parameters:
    ///   - kind: Whether centrals can connect: `.connectable` or `.broadcast`.
    ///   - localName: The advertised name; `nil` advertises the name of the peripheral.
    ///   - services: The services by which centrals can find the peripheral; `nil` advertises the declared
    ///     primary services that fit, in the order of the declaration.
    ///   - solicitedServices: The services that the peripheral looks for in centrals.
    ///   - manufacturerData: The manufacturer-specific data, by company identifier.
    ///   - serviceData: The data that belongs to services, by the UUID of the service.
    ///   - rawData: Structures of types for which there is no parameter, by the number of the type.
    ///   - appearance: The kind of device.
    ///   - includes: The fields that the Bluetooth stack adds, such as `.txPower`.
    ///   - scanResponse: The data that a scanner can request, in addition to the name. Not every stack
    ///     supports this data.
    ///   - discoverability: Whether phones list the peripheral when they search for new devices; `nil` for
    ///     `.general`, or for `.never` in a broadcast.
    ///   - interval: The interval at which the advertisement is sent, such as `.every(.milliseconds(100))`.
    ///     Not every stack supports this parameter.
    ///   - transmitPower: The transmit power, such as `.dBm(4)`. Not every stack supports this parameter.
    ///   - secondaryChannel: The channel for extended advertising. Only Bluetooth 5 scanners receive extended
    ///     advertising.
    ///   - duration: The duration of each turn if several advertisements alternate; whole seconds, 1 to
    ///     65,535.
    ///   - timeout: The total time on the air; whole seconds, 1 to 65,535.
    ///   - whileConnected: The treatment of the advertisement while a central is connected.
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
