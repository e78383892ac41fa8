internal import PeripheralCore

extension Advertisement {
    /// The advertisement as a group.
    ///
    /// Fields that the advertisement does not set are omitted.
    func preserved(as name: String) -> RestorationState.Group {
        var group = RestorationState.Group(name)
        group["kind"] = kind == .connectable ? "connectable" : "broadcast"
        group["local-name"] = localName?.preservedText
        group["services"] = services?.preservedText
        group["solicited-services"] = solicitedServices.preservedTextIfAny
        group["manufacturer-data"] = manufacturerData.preservedText(of: \.preservedText)
        group["service-data"] = serviceData.preservedText(of: \.description)
        group["raw-data"] = rawData.preservedText { PreservedBytes.text(of: [$0.rawValue]) }
        group["appearance"] = appearance?.preservedText
        if !includes.isEmpty {
            group["includes"] = includes.map(\.description).sorted().joined(separator: " ")
        }
        group["scan-response-services"] = scanResponse.services.preservedTextIfAny
        group["scan-response-solicited-services"] = scanResponse.solicitedServices.preservedTextIfAny
        group["scan-response-manufacturer-data"] =
            scanResponse.manufacturerData.preservedText(of: \.preservedText)
        group["scan-response-service-data"] = scanResponse.serviceData.preservedText(of: \.description)
        group["scan-response-raw-data"] =
            scanResponse.rawData.preservedText { PreservedBytes.text(of: [$0.rawValue]) }
        group["discoverability"] =
            switch discoverability.mode {
            case .never: "never"
            case .general: "general"
            case .limited(let time): time.preservedText
            }
        group["interval"] = interval?.preservedText
        group["slowing"] = slowing.map { "\($0.time.preservedText) \($0.interval.preservedText)" }
        group["transmit-power"] = transmitPower.map { "\($0.dBm)" }
        group["secondary-channel"] = secondaryChannel?.description
        group["duration"] = duration?.preservedText
        group["timeout"] = timeout?.preservedText
        group["while-connected"] = whileConnected == .pause ? "pause" : "keep-advertising"
        return group
    }

    init(preserved group: RestorationState.Group) throws(RestorationError) {
        let fields = PreservedFields(group)
        self.init(
            try fields.required("kind") {
                switch $0 {
                case "connectable": .connectable
                case "broadcast": .broadcast
                default: nil
                }
            },
            localName: try fields.optional("local-name") { String(preserved: $0) },
            services: try fields.optional("services", [BluetoothUUID].init(preserved:)),
            solicitedServices: try fields.optional("solicited-services", [BluetoothUUID].init(preserved:))
                ?? [],
            manufacturerData: try fields.data("manufacturer-data") { UInt16(preserved: $0) },
            serviceData: try fields.data("service-data") { BluetoothUUID(String($0)) },
            rawData: try fields.data("raw-data", AdvertisingStructure.DataType.init(preserved:)),
            appearance: try fields.optional("appearance") { UInt16(preserved: $0[...]) },
            includes: try fields.optional("includes", Set<AdvertisingInclude>.init(preserved:)) ?? [],
            scanResponse: ScanResponse(
                services: try fields.optional("scan-response-services", [BluetoothUUID].init(preserved:))
                    ?? [],
                solicitedServices: try fields.optional(
                    "scan-response-solicited-services",
                    [BluetoothUUID].init(preserved:)
                ) ?? [],
                manufacturerData: try fields.data("scan-response-manufacturer-data") {
                    UInt16(preserved: $0)
                },
                serviceData: try fields.data("scan-response-service-data") { BluetoothUUID(String($0)) },
                rawData: try fields.data(
                    "scan-response-raw-data",
                    AdvertisingStructure.DataType.init(preserved:)
                )
            ),
            discoverability: try fields.required("discoverability") {
                switch $0 {
                case "never": .never
                case "general": .general
                default: Duration(preserved: $0[...]).map(Discoverability.limited(for:))
                }
            },
            interval: try fields.optional("interval") { text in
                let times = text.split(separator: " ").compactMap { Duration(preserved: $0) }
                return times.count == 2 ? .between(times[0], and: times[1]) : nil
            },
            slowing: try fields.optional("slowing") { text in
                let times = text.split(separator: " ").compactMap { Duration(preserved: $0) }
                return times.count == 3 ? .after(times[0], to: .between(times[1], and: times[2])) : nil
            },
            transmitPower: try fields.optional("transmit-power") { Int($0).map(TransmitPower.dBm) },
            secondaryChannel: try fields.optional("secondary-channel") { SecondaryChannel($0) },
            duration: try fields.optional("duration") { Duration(preserved: $0[...]) },
            timeout: try fields.optional("timeout") { Duration(preserved: $0[...]) },
            whileConnected: try fields.required("while-connected") {
                switch $0 {
                case "pause": .pause
                case "keep-advertising": .keepAdvertising
                default: nil
                }
            }
        )
    }
}

/// The entries of a group, converted to their types.
private struct PreservedFields {
    private let group: RestorationState.Group

    init(_ group: RestorationState.Group) {
        self.group = group
    }

    func optional<Value>(_ key: String, _ make: (String) -> Value?) throws(RestorationError) -> Value? {
        guard let text = group[key] else { return nil }
        guard let value = make(text) else { throw .damaged("\"\(key)\" of \(group.name) is not valid") }
        return value
    }

    func required<Value>(_ key: String, _ make: (String) -> Value?) throws(RestorationError) -> Value {
        guard let value = try optional(key, make) else { throw .damaged("\(group.name) has no \"\(key)\"") }
        return value
    }

    /// Reads a list of bytes by key.
    func data<Key: Hashable>(
        _ key: String,
        _ make: (Substring) -> Key?
    ) throws(RestorationError) -> [Key: [UInt8]] {
        try optional(key) { text in
            var data: [Key: [UInt8]] = [:]
            for word in text.split(separator: " ") {
                let parts = word.split(separator: ":", maxSplits: 1)
                guard parts.count == 2, let key = make(parts[0]),
                    let bytes = PreservedBytes.bytes(of: parts[1])
                else { return nil }
                data[key] = bytes
            }
            return data
        } ?? [:]
    }
}

extension Dictionary where Value == [UInt8] {
    fileprivate func preservedText(of key: (Key) -> String) -> String? {
        guard !isEmpty else { return nil }
        return map { "\(key($0.key)):\(PreservedBytes.text(of: $0.value))" }.sorted().joined(separator: " ")
    }
}

extension [BluetoothUUID] {
    fileprivate var preservedText: String { map(\.description).joined(separator: " ") }

    fileprivate var preservedTextIfAny: String? { isEmpty ? nil : preservedText }

    fileprivate init?(preserved text: String) {
        self = []
        for word in text.split(separator: " ") {
            guard let uuid = BluetoothUUID(String(word)) else { return nil }
            append(uuid)
        }
    }
}

extension Set<AdvertisingInclude> {
    fileprivate init?(preserved text: String) {
        self = []
        for word in text.split(separator: " ") {
            guard let include = AdvertisingInclude(String(word)) else { return nil }
            insert(include)
        }
    }
}

extension AdvertisingInterval {
    fileprivate var preservedText: String { "\(minimum.preservedText) \(maximum.preservedText)" }
}

extension UInt16 {
    fileprivate var preservedText: String {
        PreservedBytes.text(of: [UInt8(self >> 8), UInt8(self & 0xFF)])
    }

    fileprivate init?(preserved text: Substring) {
        guard let bytes = PreservedBytes.bytes(of: text), bytes.count == 2 else { return nil }
        self = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
    }
}

extension AdvertisingStructure.DataType {
    fileprivate init?(preserved text: Substring) {
        guard let bytes = PreservedBytes.bytes(of: text), bytes.count == 1 else { return nil }
        self.init(rawValue: bytes[0])
    }
}
