public import PeripheralCore

/// What a peripheral tells everybody around, so that centrals find it.
///
/// A peripheral without one advertises its name, and as many of its primary services as fit.
///
/// ```swift
/// Advertisement(localName: "Lamp", manufacturerData: [0x0059: [1, 2]])
/// ```
///
/// There is room for 31 bytes, 3 of which are flags; the name has 31 bytes of its own, in the scan response.
/// Adapters of Bluetooth 5 have more, which only scanners of Bluetooth 5 hear. ``plan(for:)`` tells what becomes of
/// it, byte by byte:
///
/// ```swift
/// print(Advertisement(localName: "Lamp", services: [.battery]).plan(for: .legacy))
/// ```
///
/// See Core Specification, Vol 3, Part C, 9 and 11, and the Core Specification Supplement, Part A.
public struct Advertisement: Hashable, Sendable {
    /// Whether centrals can connect.
    public var kind: Kind

    /// The name, or `nil` for that of the peripheral.
    public var localName: String?

    /// The services by which centrals find the peripheral, or `nil` for the primary ones of the declaration that fit.
    public var services: [BluetoothUUID]?

    /// The services that the peripheral looks for in centrals (Core Specification Supplement, Part A, 1.10).
    public var solicitedServices: [BluetoothUUID]

    /// The manufacturer's own data, by company identifier (Assigned Numbers, 7.1).
    public var manufacturerData: [UInt16: [UInt8]]

    /// Data that belongs to a service.
    public var serviceData: [BluetoothUUID: [UInt8]]

    /// Structures of other kinds, by their number (Assigned Numbers, 2.3).
    public var rawData: [AdvertisingStructure.DataType: [UInt8]]

    /// What the device looks like (Assigned Numbers, 2.6), such as 0x0340 for a heart rate sensor.
    public var appearance: UInt16?

    /// What the Bluetooth stack adds.
    public var includes: Set<AdvertisingInclude>

    /// What a scanner gets that asks for more, besides the name.
    public var scanResponse: ScanResponse

    /// Whether phones show the peripheral when they search for new devices.
    public var discoverability: Discoverability

    /// How often it is sent; `nil` leaves it to the stack.
    public var interval: AdvertisingInterval?

    /// The power to send with; `nil` leaves it to the controller.
    public var transmitPower: TransmitPower?

    /// Extended advertising on this channel; `nil` for legacy advertising, as long as that is enough.
    public var secondaryChannel: SecondaryChannel?

    /// How long it is on the air in its turn, where several take turns; `nil` leaves it to the stack.
    public var duration: Duration?

    /// How long it is on the air at all; `nil` for as long as the peripheral runs.
    public var timeout: Duration?

    /// What becomes of it while a central is connected.
    public var whileConnected: ConnectedBehavior

    /// Declares an advertisement.
    ///
    /// What is given here is examined with the peripheral's declaration (`Peripheral.validate()`).
    ///
    /// - Parameters:
    ///   - kind: Whether centrals can connect: `.connectable` or `.broadcast`.
    ///   - localName: The name, or `nil` for that of the peripheral.
    ///   - services: The services by which centrals find the peripheral, or `nil` for the primary ones of the
    ///     declaration that fit, in their order.
    ///   - solicitedServices: The services that the peripheral looks for in centrals.
    ///   - manufacturerData: The manufacturer's own data, by company identifier.
    ///   - serviceData: Data that belongs to a service.
    ///   - rawData: Structures of kinds that have no parameter here, by their number.
    ///   - appearance: What the device looks like.
    ///   - includes: What the Bluetooth stack adds, such as `.txPower`.
    ///   - scanResponse: What a scanner gets that asks for more, besides the name; BlueZ 5.80 and later.
    ///   - discoverability: Whether phones show the peripheral when they search for new devices; `nil` for `.general`,
    ///     or for `.never` in a broadcast.
    ///   - interval: How often it is sent, such as `.every(.milliseconds(100))`; BlueZ 5.77 and later.
    ///   - transmitPower: The power to send with, such as `.dBm(4)`; BlueZ 5.77 and later.
    ///   - secondaryChannel: Extended advertising on this channel, which only scanners of Bluetooth 5 hear.
    ///   - duration: How long it is on the air in its turn, where several take turns: whole seconds, 1 to 65,535.
    ///   - timeout: How long it is on the air at all: whole seconds, 1 to 65,535.
    ///   - whileConnected: What becomes of it while a central is connected.
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
