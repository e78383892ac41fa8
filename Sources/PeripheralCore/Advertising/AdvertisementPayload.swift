/// The decoded fields of a device's advertisement.
///
/// ``init(advertisingData:scanResponse:)`` decodes the transmitted bytes in the same way as a scanner.
public struct AdvertisementPayload: Hashable, Sendable {
    /// The flags of the device, or `nil` if the advertising data contains no flags.
    ///
    /// The flags contain the discoverable mode and the supported radio types (LE and BR/EDR).
    public var flags: AdvertisingFlags?
    /// The UUIDs of the services that the device offers.
    public var services: [BluetoothUUID]
    /// The name of the device.
    ///
    /// The decoder ignores an empty name.
    public var localName: String?
    /// Whether ``localName`` is a shortened form of the device's name.
    public var isLocalNameShortened = false
    /// The appearance of the device (Assigned Numbers, 2.6).
    public var appearance: UInt16?
    /// The transmit power of the device in dBm, −127 through 127.
    public var txPower: Int8?
    /// The manufacturer-specific data for each company identifier (Assigned Numbers, 7.1).
    public var manufacturerData: [UInt16: [UInt8]]
    /// The service data for each service UUID.
    public var serviceData: [BluetoothUUID: [UInt8]]

    /// Creates a payload from the given fields.
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
