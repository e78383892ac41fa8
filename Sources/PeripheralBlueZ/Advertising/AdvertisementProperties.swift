internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// The properties of `org.bluez.LEAdvertisement1` that an advertisement has on an adapter.
///
/// What BlueZ does not know there is left out: the plan tells of it.
struct AdvertisementProperties: Equatable {
    /// All that BlueZ knows, with their types.
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

    /// None at all.
    init() {}

    init(of advertisement: Advertisement, for capabilities: AdvertisingCapabilities) {
        let isConnectable = advertisement.kind == .connectable
        values["Type"] = .string(isConnectable ? "peripheral" : "broadcast")
        // bluetoothd cuts a name inside a character, or hands the controller more than that takes.
        values["LocalName"] = advertisement.plan(for: capabilities).localName.map { .string($0) }
        values["Appearance"] = advertisement.appearance.map { .uint16($0) }
        values["Includes"] = Self.list(advertisement.includes.map(\.description).inOrder())
        values["Duration"] = advertisement.duration.map { .uint16($0.seconds16) }
        values["Timeout"] = advertisement.timeout.map { .uint16($0.seconds16) }
        values["SecondaryChannel"] = advertisement.secondaryChannel.map { .string($0.description) }
        // BlueZ 5.69 to 5.79 take it in a broadcast for a demand of flags, also when it is false.
        if isConnectable { values["Discoverable"] = .bool(advertisement.discoverability != .never) }
        values["DiscoverableTimeout"] = advertisement.discoverability.limit.map { .uint16($0.seconds16) }
        if let interval = advertisement.interval {
            values["MinInterval"] = .uint32(UInt32(clamping: interval.minimum.wholeMilliseconds))
            values["MaxInterval"] = .uint32(UInt32(clamping: interval.maximum.wholeMilliseconds))
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
        if capabilities.version >= BlueZVersion(major: 5, minor: 80) {
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
        // In the shortest form: of the longer ones, bluetoothd shortens those of 16 bits only.
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
    /// What bluetoothd takes at any time, with what ends each; `nil` for what only another value replaces.
    ///
    /// The rest it does not take while the advertisement is registered, or not rightly: it never forgets a name or an
    /// appearance, looks at flags, intervals and power one by one, and passes over the scan response.
    private static let changeable: [MemberName: BusValue?] = [
        "ServiceUUIDs": .strings([]), "SolicitUUIDs": .strings([]),
        "ManufacturerData": .dictionary(BusDictionary(key: "q", value: "v", [])),
        "ServiceData": .dictionary(BusDictionary(key: "s", value: "v", [])),
        "Data": .dictionary(BusDictionary(key: "y", value: "v", [])),
        "LocalName": nil, "Appearance": nil,
    ]

    /// Goes on with what is left of the time of others.
    mutating func keepTimeout(of others: AdvertisementProperties) {
        values["Timeout"] = others.values["Timeout"]
    }

    /// What bluetoothd is to be told so that an advertisement with other properties becomes one with these.
    ///
    /// What shrinks comes first, so that nothing is too long meanwhile.
    ///
    /// - Returns: The properties and their new values; `nil` when it cannot be told.
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
        return shrunk + changed
    }
}

extension Duration {
    fileprivate var seconds16: UInt16 { UInt16(clamping: components.seconds) }
}
