internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// The properties of `org.bluez.LEAdvertisement1` for an advertisement on an adapter.
///
/// The object omits properties that this version of BlueZ does not support. The plan reports these
/// properties.
struct AdvertisementProperties: Equatable {
    /// All properties that BlueZ supports, with their types.
    static let all: [(name: MemberName, signature: Signature)] = [
        ("Type", "s"), ("ServiceUUIDs", "as"), ("SolicitUUIDs", "as"), ("ManufacturerData", "a{qv}"),
        ("ServiceData", "a{sv}"), ("Includes", "as"), ("LocalName", "s"), ("Appearance", "q"),
        ("Duration", "q"),
        ("Timeout", "q"), ("Data", "a{yv}"), ("Discoverable", "b"), ("DiscoverableTimeout", "q"),
        ("SecondaryChannel", "s"), ("MinInterval", "u"), ("MaxInterval", "u"), ("TxPower", "n"),
        ("ScanResponseServiceUUIDs", "as"), ("ScanResponseSolicitUUIDs", "as"),
        ("ScanResponseManufacturerData", "a{qv}"), ("ScanResponseServiceData", "a{sv}"),
        ("ScanResponseData", "a{yv}"),
    ]

    private(set) var values: [MemberName: BusValue] = [:]

    /// Creates an empty set of properties.
    init() {}

    init(of advertisement: Advertisement, for capabilities: AdvertisingCapabilities) {
        let isConnectable = advertisement.kind == .connectable
        values["Type"] = .string(isConnectable ? "peripheral" : "broadcast")
        // The name is the name of the plan, because bluetoothd can cut a name inside a character. bluetoothd
        // can also pass the controller more bytes than the controller accepts.
        values["LocalName"] = advertisement.plan(for: capabilities).localName.map { .string($0) }
        values["Appearance"] = advertisement.appearance.map { .uint16($0) }
        values["Includes"] = Self.list(advertisement.includes.map(\.description).inOrder())
        values["Duration"] = advertisement.duration.map { .uint16($0.seconds16) }
        values["Timeout"] = advertisement.timeout.map { .uint16($0.seconds16) }
        values["SecondaryChannel"] = advertisement.secondaryChannel.map { .string($0.description) }
        // In a broadcast, BlueZ 5.69 to 5.79 interpret this property as a request for flags, even if it is
        // `false`.
        if isConnectable { values["Discoverable"] = .bool(advertisement.discoverability != .never) }
        values["DiscoverableTimeout"] = advertisement.discoverability.limit.map { .uint16($0.seconds16) }
        if let standard = capabilities.defaultInterval {
            let interval = advertisement.interval ?? standard
            values["MinInterval"] = .uint32(interval.minimum.ceiling)
            values["MaxInterval"] = .uint32(interval.maximum.ceiling)
        }
        values["TxPower"] = advertisement.transmitPower.map { .int16(Int16(clamping: $0.dBm)) }
        set(
            "",
            advertisement.services ?? [],
            advertisement.solicitedServices,
            advertisement.manufacturerData,
            advertisement.serviceData,
            advertisement.rawData
        )
        let response = advertisement.scanResponse
        if capabilities.version >= .scanResponseProperties {
            set(
                "ScanResponse",
                response.services,
                response.solicitedServices,
                response.manufacturerData,
                response.serviceData,
                response.rawData
            )
        }
    }

    private mutating func set(
        _ prefix: String,
        _ services: [BluetoothUUID],
        _ solicitedServices: [BluetoothUUID],
        _ manufacturerData: [UInt16: [UInt8]],
        _ serviceData: [BluetoothUUID: [UInt8]],
        _ rawData: [AdvertisingStructure.DataType: [UInt8]]
    ) {
        func set(_ name: String, _ value: BusValue?) {
            if let name = try? MemberName(prefix + name) { values[name] = value }
        }
        // The shortest form is used because bluetoothd shortens only longer forms of 16-bit UUIDs.
        set("ServiceUUIDs", Self.list(services.map(\.description)))
        set("SolicitUUIDs", Self.list(solicitedServices.map(\.description)))
        set("ManufacturerData", Self.dictionary("q", manufacturerData) { .uint16($0) })
        set("ServiceData", Self.dictionary("s", serviceData) { .string($0.description) })
        set("Data", Self.dictionary("y", rawData) { .byte($0.rawValue) })
    }

    private static func list(_ texts: [String]) -> BusValue? {
        texts.isEmpty ? nil : .strings(texts)
    }

    private static func dictionary<Key: Comparable>(
        _ signature: Signature,
        _ data: [Key: [UInt8]],
        _ key: (Key) -> BusValue
    ) -> BusValue? {
        guard !data.isEmpty else { return nil }
        let entries = data.inOrder { $0.key < $1.key }.map {
            BusDictionary.Entry(key: key($0.key), value: .variant(.bytes($0.value)))
        }
        return .dictionary(BusDictionary(key: signature, value: "v", entries))
    }
}

// MARK: - Changes

extension AdvertisementProperties {
    /// The properties that bluetoothd accepts at any time, each with the value that removes it.
    ///
    /// `nil` means that only another value can replace the property.
    ///
    /// bluetoothd does not accept the other properties while the advertisement is registered, or does not
    /// accept them correctly. bluetoothd never removes a name, an appearance or an interval. It processes
    /// flags and power one by one, and ignores the scan response.
    private static let changeable: [MemberName: BusValue?] = [
        "ServiceUUIDs": .strings([]), "SolicitUUIDs": .strings([]),
        "ManufacturerData": .dictionary(BusDictionary(key: "q", value: "v", [])),
        "ServiceData": .dictionary(BusDictionary(key: "s", value: "v", [])),
        "Data": .dictionary(BusDictionary(key: "y", value: "v", [])),
        "LocalName": nil, "Appearance": nil, "MinInterval": nil, "MaxInterval": nil,
    ]

    /// Removes the interval.
    ///
    /// - Returns: Whether there was one.
    mutating func removeInterval() -> Bool {
        values["MaxInterval"] = nil
        return values.removeValue(forKey: "MinInterval") != nil
    }

    /// Keeps the remaining timeout from other properties.
    mutating func keepTimeout(of others: AdvertisementProperties) {
        values["Timeout"] = others.values["Timeout"]
    }

    /// Returns the changes that turn an advertisement with other properties into an advertisement with these
    /// properties.
    ///
    /// Properties that shrink are first, so the data is never too long in between. bluetoothd passes each
    /// property to the kernel, so the maximum of a longer interval precedes its minimum. The kernel withdraws
    /// an advertisement whose minimum is longer than its maximum.
    ///
    /// - Returns: The properties and their new values; `nil` if bluetoothd cannot make the change.
    func changes(from others: AdvertisementProperties) -> [(String, BusValue)]? {
        var shrunk: [(String, BusValue)] = []
        var changed: [(String, BusValue)] = []
        for (name, _) in Self.all where values[name] != others.values[name] {
            guard let end = Self.changeable[name] else { return nil }
            if let value = values[name] {
                changed.append((name.text, value))
            } else if let end {
                shrunk.append((name.text, end))
            } else {
                return nil
            }
        }
        let maximum: UInt32 = values["MaxInterval"]?.integer() ?? 0
        if changed.last?.0 == "MaxInterval", maximum > others.values["MaxInterval"]?.integer() ?? 0 {
            changed.insert(changed.removeLast(), at: 0)
        }
        return shrunk + changed
    }
}

extension Duration {
    /// The milliseconds, rounded up.
    ///
    /// bluetoothd rounds down to steps of 0.625 ms, so 153 ms become 152.5 ms.
    fileprivate var ceiling: UInt32 {
        UInt32(clamping: (self + .milliseconds(1) - .nanoseconds(1)).wholeMilliseconds)
    }

    fileprivate var seconds16: UInt16 { UInt16(clamping: components.seconds) }
}
