internal import PeripheralBlueZModel
internal import PeripheralCore
internal import PeripheralDBus

/// The properties of an advertisement, as bluetoothd interprets them.
///
/// The transmission power is validated and then ignored, because no central can observe it here.
struct AdvertisementDescription: Sendable {
    let isExtended: Bool
    let version: BlueZVersion
    private(set) var isPeripheral = false
    /// The advertising data.
    var data: AdvertisedFields
    /// The scan response.
    private(set) var response: AdvertisedFields
    private(set) var includes: Set<String> = []
    private(set) var localName: String?
    private(set) var appearance: UInt16?
    /// The time in seconds; 0 for no limit.
    private(set) var timeout: UInt16 = 0
    /// The time in seconds; 0 for no limit.
    private(set) var discoverableTimeout: UInt16 = 0
    private(set) var secondaryChannel: String?
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

    /// The interval on the air, in the controller's steps of 0.625 ms; `nil` if the kernel refuses it.
    var interval: AdvertisingInterval? {
        guard let minInterval, let maxInterval else { return .every(.milliseconds(1280)) }
        guard minInterval <= maxInterval else { return nil }
        func steps(_ milliseconds: UInt32) -> Duration { .microseconds(UInt64(milliseconds) * 8 / 5 * 625) }
        return .between(steps(minInterval), and: steps(maxInterval))
    }

    /// Creates a description from the result of `GetAll`.
    ///
    /// Without a result, the description has no properties. The initializer returns `nil` if bluetoothd
    /// cannot parse the properties.
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
            // A broadcast cannot be discoverable (Core Specification, Vol 3, Part C, 9.1.1).
            guard isPeripheral else { return nil }
            if discoverableTimeout > 0 { data.flags = Self.limited | Self.notClassic }
        } else {
            discoverableTimeout = 0
        }
        if timeout > 0, timeout < discoverableTimeout { return nil }
        if minInterval ?? 0 > maxInterval ?? 0 { return nil }
    }

    /// Returns whether bluetoothd, without `--experimental`, applies changes of a property.
    static func takesChanges(of name: String) -> Bool {
        !name.hasPrefix(responsePrefix) || name == "ScanResponseData"
    }

    private static let limited: UInt8 = 0x01
    private static let general: UInt8 = 0x02
    /// The flag for adapters without classic Bluetooth, such as all emulated adapters.
    static let notClassic: UInt8 = 0x04

    private var isDiscoverable: Bool { (data.flags ?? 0) & (Self.limited | Self.general) != 0 }

    /// Sets a property.
    ///
    /// - Returns: `false` if bluetoothd cannot parse the value. The property may be empty then.
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

    /// Sets an interval in milliseconds; bluetoothd counts in steps of 0.625 ms.
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
    /// The first version that cuts names to the capacity of the controller.
    ///
    /// Earlier versions cut names to the capacity of a legacy advertisement.
    static let namesForController = BlueZVersion(major: 5, minor: 69)
    /// The first version that writes flags for an advertisement that is not discoverable.
    static let flagsOfUndiscoverable = BlueZVersion(major: 5, minor: 69)
    /// The first version that automatically uses extended advertising.
    static let automaticExtendedAdvertising = BlueZVersion(major: 5, minor: 76)
    /// The first version in which intervals, power and capabilities are not experimental.
    static let stableAdvertisingProperties = BlueZVersion(major: 5, minor: 77)
    /// The first version that accepts more than a name in the scan response.
    ///
    /// This version also writes no flags into a broadcast.
    static let scanResponseProperties = BlueZVersion(major: 5, minor: 80)
}
