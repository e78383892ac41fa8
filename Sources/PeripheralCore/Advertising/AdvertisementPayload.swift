/// The content of a device's advertisement, field by field.
///
/// ``init(advertisingData:scanResponse:)`` decodes the bytes on the air, like a scanner.
public struct AdvertisementPayload: Hashable, Sendable {
    /// The discoverability and the radio types, or `nil` if there are no flags.
    public var flags: AdvertisingFlags?
    /// The services that the device offers.
    public var services: [BluetoothUUID]
    /// The name of the device.
    ///
    /// An empty name is omitted.
    public var localName: String?
    /// Whether ``localName`` is only the beginning of the device's name.
    public var isLocalNameShortened = false
    /// The appearance of the device (Assigned Numbers, 2.6).
    public var appearance: UInt16?
    /// The transmit power in dBm: −127 through 127.
    public var txPower: Int8?
    /// Manufacturer-specific data, by company identifier (Assigned Numbers, 7.1).
    public var manufacturerData: [UInt16: [UInt8]]
    /// Service data, by service UUID.
    public var serviceData: [BluetoothUUID: [UInt8]]

    /// Creates a payload that contains only the given fields.
    public init(
        flags: AdvertisingFlags? = nil,
        localName: String? = nil,
        services: [BluetoothUUID] = [],
        manufacturerData: [UInt16: [UInt8]] = [:],
        serviceData: [BluetoothUUID: [UInt8]] = [:],
        appearance: UInt16? = nil,
        txPower: Int8? = nil
    ) {
        self.flags = flags
        self.services = services
        self.localName = localName
        self.appearance = appearance
        self.txPower = txPower
        self.manufacturerData = manufacturerData
        self.serviceData = serviceData
    }
}
