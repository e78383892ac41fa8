internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralTesting

/// The properties of an advertisement, as bluetoothd understands them.
///
/// Intervals and transmission power are passed over, as unknown properties are: no central notices them here.
struct AdvertisementDescription: Sendable {
    var isPeripheral = false
    var serviceUUIDs: [BluetoothUUID] = []
    var solicitUUIDs: [BluetoothUUID] = []
    var manufacturerData: [(company: UInt16, data: [UInt8])] = []
    var serviceData: [(uuid: BluetoothUUID, data: [UInt8])] = []
    var includes: Set<String> = []
    var localName: String?
    var appearance: UInt16?
    /// In seconds; 0 for none.
    var timeout: UInt16 = 0
    var data: [(type: UInt8, data: [UInt8])] = []
    var isDiscoverable = false
    var secondaryChannel: String?

    private static let knownIncludes: Set<String> = ["tx-power", "appearance", "local-name"]
    private static let secondaryChannels: Set<String> = ["1M", "2M", "Coded"]

    /// The order in which bluetoothd reads the properties.
    private static let order = [
        "Type", "ServiceUUIDs", "SolicitUUIDs", "ManufacturerData", "ServiceData", "Includes", "LocalName",
        "Appearance", "Duration", "Timeout", "Data", "Discoverable", "SecondaryChannel",
    ]

    /// Reads what `GetAll` answered; without an answer there are no properties.
    ///
    /// - Returns: `nil` when bluetoothd cannot parse it.
    init?(_ answer: [BusValue], isExtended: Bool, version: BlueZVersion) {
        for name in Self.order {
            guard let value = answer.first?[name] else { continue }
            guard set(name, to: value, isExtended: isExtended) else { return nil }
        }
        if version >= .stableAdvertisingProperties, let properties = answer.first,
            properties["MinInterval"] != nil, properties["MaxInterval"] == nil
        {
            return nil
        }
        // What is broadcast cannot be discoverable (Core Specification, Vol 3, Part C, 9.1.1).
        guard isPeripheral || !isDiscoverable else { return nil }
    }

    /// Takes over a property.
    ///
    /// - Returns: False when bluetoothd cannot parse it; then it may be empty now.
    mutating func set(_ name: String, to value: BusValue, isExtended: Bool) -> Bool {
        switch name {
        case "Type":
            guard let type = value.string, type == "peripheral" || type == "broadcast" else { return false }
            isPeripheral = type == "peripheral"
        case "ServiceUUIDs":
            guard let uuids = value.uuids else { return false }
            serviceUUIDs = uuids
        case "SolicitUUIDs":
            guard let uuids = value.uuids else { return false }
            solicitUUIDs = uuids
        case "ManufacturerData":
            guard let entries = value.data(by: { $0.integer(UInt16.self) }) else { return false }
            manufacturerData = entries.map { (company: $0, data: $1) }
        case "ServiceData":
            guard let entries = value.data(by: { $0.string.flatMap(BluetoothUUID.init) }) else {
                return false
            }
            serviceData = entries.map { (uuid: $0, data: $1) }
        case "Data":
            guard let entries = value.data(by: { $0.integer(UInt8.self) }),
                entries.allSatisfy({ !Self.reservedTypes.contains($0.0) })
            else { return false }
            data = entries.map { (type: $0, data: $1) }
        case "Includes":
            guard let names = value.elements else { return false }
            includes = Self.knownIncludes.intersection(names.compactMap(\.string))
        case "LocalName":
            guard let name = value.string, !includes.contains("local-name") else { return false }
            localName = name.isEmpty ? nil : name
        case "Appearance":
            guard case .uint16(let appearance) = value, !includes.contains("appearance") else { return false }
            self.appearance = appearance
        case "Duration":
            guard case .uint16 = value else { return false }
        case "Timeout":
            guard case .uint16(let timeout) = value else { return false }
            self.timeout = timeout
        case "Discoverable":
            guard let isDiscoverable = value.bool else { return false }
            self.isDiscoverable = isDiscoverable
        case "SecondaryChannel":
            guard let channel = value.string, isExtended, Self.secondaryChannels.contains(channel) else {
                return false
            }
            secondaryChannel = channel
        default: return false
        }
        return true
    }

    /// Data types that have properties of their own, or that the stack sends by itself.
    private static let reservedTypes: Set<UInt8> = Set(0x01...0x0A).union([
        0x0D, 0x0E, 0x0F, 0x10, 0x11, 0x14, 0x15, 0x16, 0x19, 0x1F, 0x20, 0x21, 0xFF,
    ])
}

extension BusValue {
    /// An array of texts that are all UUIDs.
    fileprivate var uuids: [BluetoothUUID]? {
        guard let elements else { return nil }
        let uuids = elements.compactMap { $0.string.flatMap(BluetoothUUID.init) }
        return uuids.count == elements.count ? uuids : nil
    }

    /// A dictionary of bytes.
    fileprivate func data<Key>(by key: (BusValue) -> Key?) -> [(Key, [UInt8])]? {
        guard let dictionary else { return nil }
        let entries = dictionary.entries.compactMap { entry -> (Key, [UInt8])? in
            guard let key = key(entry.key), let bytes = entry.value.bytes else { return nil }
            return (key, bytes)
        }
        return entries.count == dictionary.entries.count ? entries : nil
    }
}
