/// What a device says of itself while it advertises, field by field.
///
/// ``init(advertisingData:scanResponse:)`` makes the fields of the bytes that are on the air, as a scanner does.
public struct AdvertisementPayload: Hashable, Sendable {
    /// Whether the device is discoverable; `nil` leaves the flags out.
    public var flags: AdvertisingFlags?
    /// The services that the device offers.
    public var services: [BluetoothUUID]
    /// The device's name; an empty one is none.
    public var localName: String?
    /// Whether ``localName`` is only the beginning of the device's name.
    public var isLocalNameShortened = false
    /// What the device looks like (Assigned Numbers, 2.6).
    public var appearance: UInt16?
    /// The power of transmission in dBm: −127 through 127.
    public var txPower: Int8?
    /// Data in formats of manufacturers' own, by company identifier (Assigned Numbers, 7.1).
    public var manufacturerData: [UInt16: [UInt8]]
    /// Data of services, by their UUIDs.
    public var serviceData: [BluetoothUUID: [UInt8]]

    /// Creates a payload; what is not named is left out.
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
