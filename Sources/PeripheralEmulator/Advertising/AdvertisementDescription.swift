internal import PeripheralBlueZModel
internal import PeripheralCore
internal import PeripheralDBus

/// The properties of an advertisement, as bluetoothd understands them.
///
/// Intervals and transmission power are examined, and then passed over: no central notices them here.
struct AdvertisementDescription: Sendable {
    let isExtended: Bool
    let version: BlueZVersion
    var isPeripheral = false
    /// The advertising data.
    var data: AdvertisedFields
    /// The scan response.
    var response: AdvertisedFields
    var includes: Set<String> = []
    var localName: String?
    var appearance: UInt16?
    /// In seconds; 0 for none.
    var timeout: UInt16 = 0
    /// In seconds; 0 for none.
    var discoverableTimeout: UInt16 = 0
    var secondaryChannel: String?
    private var minInterval: UInt32?
    private var maxInterval: UInt32?

    private static let knownIncludes: Set<String> = ["tx-power", "appearance", "local-name"]
    private static let secondaryChannels: Set<String> = ["1M", "2M", "Coded"]
    private static let responsePrefix = "ScanResponse"

    /// The order in which bluetoothd reads the properties.
    private static let order = [
        "Type", "ServiceUUIDs", "ScanResponseServiceUUIDs", "SolicitUUIDs", "ScanResponseSolicitUUIDs",
        "ManufacturerData", "ScanResponseManufacturerData", "ServiceData", "ScanResponseServiceData",
        "Includes",
        "LocalName", "Appearance", "Duration", "Timeout", "Data", "ScanResponseData", "Discoverable",
        "DiscoverableTimeout", "SecondaryChannel", "MinInterval", "MaxInterval", "TxPower",
    ]

    /// Reads what `GetAll` answered; without an answer there are no properties.
    ///
    /// - Returns: `nil` when bluetoothd cannot parse it.
    init?(_ answer: [BusValue], isExtended: Bool, version: BlueZVersion) {
        self.isExtended = isExtended
        self.version = version
        let capacity = isExtended && version >= .namesForController ? 251 : 31
        data = AdvertisedFields(capacity: capacity)
        response = AdvertisedFields(capacity: capacity)
        for name in Self.order {
            guard let value = answer.first?[name] else { continue }
            guard set(name, to: value) else { return nil }
        }
        if isDiscoverable {
            // What is broadcast cannot be discoverable (Core Specification, Vol 3, Part C, 9.1.1).
            guard isPeripheral else { return nil }
            if discoverableTimeout > 0 { data.flags = Self.limited | Self.notClassic }
        } else {
            discoverableTimeout = 0
        }
        if timeout > 0, timeout < discoverableTimeout { return nil }
        if minInterval ?? 0 > maxInterval ?? 0 { return nil }
    }

    /// Whether bluetoothd, without `--experimental`, looks at changes of a property.
    static func takesChanges(of name: String) -> Bool {
        !name.hasPrefix(responsePrefix) || name == "ScanResponseData"
    }

    private static let limited: UInt8 = 0x01
    private static let general: UInt8 = 0x02
    /// The adapters here have no classic Bluetooth.
    static let notClassic: UInt8 = 0x04

    private var isDiscoverable: Bool { (data.flags ?? 0) & (Self.limited | Self.general) != 0 }

    /// Takes over a property.
    ///
    /// - Returns: False when bluetoothd cannot parse it; then it may be empty now.
    mutating func set(_ name: String, to value: BusValue) -> Bool {
        if name.hasPrefix(Self.responsePrefix) {
            let property = String(name.dropFirst(Self.responsePrefix.utf8.count))
            guard version >= .scanResponseProperties else { return true }
            return response.set(property, to: value, version: version) ?? false
        }
        if let isTaken = data.set(name, to: value, version: version) { return isTaken }
        switch name {
        case "Type":
            guard let type = value.string, type == "peripheral" || type == "broadcast" else { return false }
            isPeripheral = type == "peripheral"
        case "Includes":
            guard let names = value.elements else { return false }
            includes = Self.knownIncludes.intersection(names.compactMap(\.string))
        case "LocalName":
            guard let name = value.string, !includes.contains("local-name") else { return false }
            localName = name.isEmpty ? nil : name
        case "Appearance":
            guard case .uint16(let appearance) = value, !includes.contains("appearance") else { return false }
            self.appearance = appearance == .max ? nil : appearance
        case "Duration":
            guard case .uint16 = value else { return false }
        case "Timeout":
            guard case .uint16(let timeout) = value else { return false }
            self.timeout = timeout
        case "Discoverable":
            guard let isDiscoverable = value.bool else { return false }
            setDiscoverable(isDiscoverable)
        case "DiscoverableTimeout":
            guard case .uint16(let timeout) = value else { return false }
            discoverableTimeout = timeout
        case "SecondaryChannel":
            guard let channel = value.string, isExtended, Self.secondaryChannels.contains(channel) else {
                return false
            }
            secondaryChannel = channel
        case "MinInterval": return setInterval(\.minInterval, to: value)
        case "MaxInterval": return setInterval(\.maxInterval, to: value)
        case "TxPower":
            guard version >= .stableAdvertisingProperties else { return true }
            guard case .int16(let power) = value else { return false }
            return (-127...20).contains(power)
        default: return false
        }
        return true
    }

    private mutating func setDiscoverable(_ isDiscoverable: Bool) {
        if isDiscoverable {
            data.flags = Self.general | Self.notClassic
        } else if version < .flagsOfUndiscoverable {
            data.flags = nil
        } else if isPeripheral || version < .scanResponseProperties {
            data.flags = Self.notClassic
        }
    }

    /// In milliseconds; bluetoothd counts in steps of 0.625.
    private mutating func setInterval(
        _ interval: WritableKeyPath<AdvertisementDescription, UInt32?>,
        to value: BusValue
    ) -> Bool {
        guard version >= .stableAdvertisingProperties else { return true }
        guard case .uint32(let milliseconds) = value else { return false }
        let steps = UInt64(milliseconds) * 8 / 5
        guard (0x20...0xFF_FFFF).contains(steps) else { return false }
        self[keyPath: interval] = milliseconds
        return true
    }
}

extension BlueZVersion {
    /// The first that cuts names to what the controller says instead of to a legacy advertisement.
    static let namesForController = BlueZVersion(major: 5, minor: 69)
    /// The first that writes flags for what is not discoverable.
    static let flagsOfUndiscoverable = BlueZVersion(major: 5, minor: 69)
    /// The first that turns to extended advertising by itself.
    static let automaticExtendedAdvertising = BlueZVersion(major: 5, minor: 76)
    /// The first in which intervals, power and capabilities are no experiment.
    static let stableAdvertisingProperties = BlueZVersion(major: 5, minor: 77)
    /// The first that takes more than a name into the scan response, and writes no flags into a broadcast.
    static let scanResponseProperties = BlueZVersion(major: 5, minor: 80)
}
