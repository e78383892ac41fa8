/// A field of an advertisement, such as the local name or the service UUIDs.
public struct AdvertisingField: Hashable, Sendable {
    private enum Kind: Hashable {
        case flags, services, solicitedServices, localName, appearance, txPower, resolvableSetIdentifier
        case manufacturerData(UInt16)
        case serviceData(BluetoothUUID)
        case rawData(AdvertisingStructure.DataType)
    }

    private let kind: Kind

    /// The flags.
    public static let flags = AdvertisingField(kind: .flags)
    /// The lists of 16-bit, 32-bit and 128-bit service UUIDs.
    public static let services = AdvertisingField(kind: .services)
    /// The lists of 16-bit, 32-bit and 128-bit UUIDs of solicited services.
    public static let solicitedServices = AdvertisingField(kind: .solicitedServices)
    /// The local name.
    public static let localName = AdvertisingField(kind: .localName)
    /// The appearance.
    public static let appearance = AdvertisingField(kind: .appearance)
    /// The transmit power.
    public static let txPower = AdvertisingField(kind: .txPower)

    /// The resolvable set identifier of a coordinated set of devices.
    public static let resolvableSetIdentifier = AdvertisingField(kind: .resolvableSetIdentifier)

    /// The manufacturer-specific data for a company identifier.
    public static func manufacturerData(_ company: UInt16) -> AdvertisingField {
        AdvertisingField(kind: .manufacturerData(company))
    }

    /// The service data for a service UUID.
    public static func serviceData(_ uuid: BluetoothUUID) -> AdvertisingField {
        AdvertisingField(kind: .serviceData(uuid))
    }

    /// Advertising data of a type for which the framework has no specific field.
    public static func rawData(_ type: AdvertisingStructure.DataType) -> AdvertisingField {
        AdvertisingField(kind: .rawData(type))
    }
}

extension AdvertisingField: CustomStringConvertible {
    /// The name of the field, such as `manufacturer data 0x0059`.
    public var description: String {
        switch kind {
        case .flags: "flags"
        case .services: "services"
        case .solicitedServices: "solicited services"
        case .localName: "local name"
        case .appearance: "appearance"
        case .txPower: "TX power"
        case .manufacturerData(let company): "manufacturer data 0x\(company.hexadecimalDigits(count: 4))"
        case .serviceData(let uuid): "service data \(uuid)"
        case .rawData(let type): "raw data \(type)"
        case .resolvableSetIdentifier: "set identifier"
        }
    }
}
