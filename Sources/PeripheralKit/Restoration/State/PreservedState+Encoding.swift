internal import PeripheralCore

/// The format of a preserved state.
///
/// Within a major version, a newer minor version only adds keys and groups. An older minor version ignores
/// these additions. Each version of this package can therefore read states of the same and of older major
/// versions. State of a newer major version stays in the store for that version.
enum PreservedSchema {
    static let majorVersion = RestorationState.newestVersion
    static let minorVersion = 6

    static let peripheral = "peripheral"
    static let database = "database"
    /// The prefix before the index of an advertisement.
    static let advertisement = "advertisement-"
    static let subscribers = "subscribers"
    static let values = "values"
    static let updates = "updates"
    /// Used since version 1.1.
    static let options = "options"
    /// Used since version 1.2.
    static let formerValues = "former-values"
    /// Used since version 1.2.
    static let formats = "formats"

    /// Used since version 1.4.
    static let formerPlaces = "former-services"
    /// Used since version 1.5.
    static let valuesOfFormerPlaces = "values-of-former-services"

    /// The key of the group ``peripheral``, since 1.3.
    static let backend = "backend"

    /// Used since version 1.6.
    static let bonds = "bonds"

    /// The length in bytes of UTF-8.
    static let maximumBackendState = 4096
    static let maximumAdvertisements = 64
    static let maximumSubscribers = 1024
    static let maximumUpdates = 4096
}

extension PreservedState {
    /// The state in the form of a store.
    package var restorationState: RestorationState {
        var restorationState = RestorationState()
        let (group, fingerprint) = database.encoded(as: PreservedSchema.database)
        restorationState.append(peripheralGroup(fingerprint: fingerprint))
        restorationState.append(group)
        for (number, advertisement) in advertisements.prefix(PreservedSchema.maximumAdvertisements)
            .enumerated()
        {
            restorationState.append(advertisement.preserved(as: PreservedSchema.advertisement + "\(number)"))
        }
        restorationState.append(subscriberGroup)
        restorationState.append(Self.valueGroup(PreservedSchema.values, values))
        restorationState.append(updateGroup)
        restorationState.append(optionGroup)
        restorationState.append(Self.valueGroup(PreservedSchema.formerValues, formerValues))
        restorationState.append(formatGroup)
        if !bonds.isEmpty { restorationState.append(bondGroup) }
        if let (former, values) = formerPlaces.database {
            restorationState.append(former.encoded(as: PreservedSchema.formerPlaces).group)
            restorationState.append(Self.valueGroup(PreservedSchema.valuesOfFormerPlaces, values))
        }
        return restorationState
    }

    private func peripheralGroup(fingerprint: UInt64) -> RestorationState.Group {
        var group = RestorationState.Group(PreservedSchema.peripheral)
        group["version"] = "\(PreservedSchema.majorVersion).\(PreservedSchema.minorVersion)"
        group["name"] = name.preservedText
        group["adapter"] = adapter?.description
        group["fingerprint"] = fingerprint.preservedText
        group[PreservedSchema.backend] = backendState.isEmpty ? nil : backendState.preservedText
        return group
    }

    private var subscriberGroup: RestorationState.Group {
        var group = RestorationState.Group(PreservedSchema.subscribers)
        for (number, subscriber) in subscribers.prefix(PreservedSchema.maximumSubscribers).enumerated() {
            group["\(number)"] = [
                subscriber.characteristic.preservedText,
                subscriber.address.description,
                subscriber.addressKind.map { $0 == .public ? "public" : "random" } ?? "-",
                subscriber.isBonded ? "bonded" : "temporary",
                subscriber.kind.map { $0 == .notification ? "notify" : "indicate" } ?? "-",
                "\(subscriber.since)",
                // Used since version 1.2.
                subscriber.adapter?.description ?? "-",
            ].joined(separator: " ")
        }
        return group
    }

    private var updateGroup: RestorationState.Group {
        var group = RestorationState.Group(PreservedSchema.updates)
        for (number, update) in updates.prefix(PreservedSchema.maximumUpdates).enumerated() {
            group["\(number)"] = [
                update.characteristic.preservedText, update.address.description,
                PreservedBytes.text(of: update.value),
            ].joined(separator: " ")
        }
        return group
    }

    private var optionGroup: RestorationState.Group {
        var group = RestorationState.Group(PreservedSchema.options)
        for (handle, options) in options.sorted(by: { $0.key < $1.key }) {
            group[handle.preservedText] = options.preservedText
        }
        return group
    }

    private var formatGroup: RestorationState.Group {
        var group = RestorationState.Group(PreservedSchema.formats)
        for (handle, formats) in formats.sorted(by: { $0.key < $1.key }) {
            group[handle.preservedText] = formats.map(\.preservedText).joined(separator: " ")
        }
        return group
    }

    private var bondGroup: RestorationState.Group {
        var group = RestorationState.Group(PreservedSchema.bonds)
        for (number, address) in bonds.enumerated() { group["\(number)"] = address.description }
        return group
    }

    private static func valueGroup(
        _ name: String,
        _ values: [AttributeHandle: [UInt8]]
    ) -> RestorationState.Group {
        var group = RestorationState.Group(name)
        for (handle, value) in values.sorted(by: { $0.key < $1.key }) {
            group[handle.preservedText] = PreservedBytes.text(of: value)
        }
        return group
    }
}

extension PreservedDatabase {
    /// Identifies this database, independent of its handles on the air.
    package var fingerprint: UInt64 {
        var hash = FNVHash()
        forEachEntry { key, value, _ in hash.combine(key, value) }
        return hash.value
    }

    /// One entry for each declared attribute, in the order of the services.
    ///
    /// Attributes that follow from other attributes are omitted.
    fileprivate func encoded(
        as name: String
    ) -> (group: RestorationState.Group, fingerprint: UInt64) {
        var group = RestorationState.Group(name)
        group.reserveCapacity(table.attributes.count)
        var hash = FNVHash()
        forEachEntry { key, value, service in
            hash.combine(key, value)
            let start = service.map { " " + (startsOnAir[$0]?.preservedText ?? "-") } ?? ""
            group[key] = value + start
        }
        return (group, hash.value)
    }

    /// Calls a closure for each declared attribute.
    ///
    /// - Parameter body: Receives the handle of an attribute, its text without its position on the air, and
    ///   the index of the service that it declares.
    private func forEachEntry(_ body: (_ key: String, _ value: String, _ service: Int?) -> Void) {
        for service in table.services.indices {
            for attribute in table.attributes(ofService: service) {
                guard let words = words(for: attribute) else { continue }
                let isDeclaration = if case .serviceDeclaration = attribute.kind { true } else { false }
                body(
                    attribute.handle.preservedText,
                    words.joined(separator: " "),
                    isDeclaration ? service : nil
                )
            }
        }
    }

    private func words(for attribute: AttributeTable.Attribute) -> [String]? {
        let value = staticValues[attribute.handle].map { [PreservedBytes.text(of: $0)] } ?? []
        switch attribute.kind {
        case .serviceDeclaration(let index):
            let service = table.services[index]
            return [
                "service", service.uuid.description, service.isPrimary ? "primary" : "secondary",
                service.handle?.preservedText ?? "-",
            ]
        case .include(let service, let include):
            let included = table.services[service].includedServices[include]
            return ["include", table.serviceRange(included).lowerBound.preservedText]
        case .characteristicValue(let service, let index):
            let characteristic = table.services[service].characteristics[index]
            return [
                "characteristic", characteristic.uuid.description,
                String(characteristic.properties.rawValue, radix: 16), characteristic.security.preservedText,
                characteristic.requiresAuthorization ? "asks" : "-",
            ] + value
        case .descriptor(let service, let characteristic, let index):
            let descriptor = table.services[service].characteristics[characteristic].descriptors[index]
            return [
                "descriptor", descriptor.uuid.description, "\(descriptor.permissions.rawValue)",
                descriptor.security.preservedText,
            ] + value
        case .characteristicDeclaration, .clientCharacteristicConfiguration, .extendedProperties:
            return nil
        }
    }
}

extension AttributeSecurity {
    /// The levels for reading, writing and notifications, one digit each.
    fileprivate var preservedText: String { "\(read.rawValue)\(write.rawValue)\(notify.rawValue)" }
}

extension UInt64 {
    /// The number as 16 hexadecimal digits.
    var preservedText: String {
        PreservedBytes.text(of: (0..<8).reversed().map { UInt8(truncatingIfNeeded: self >> (8 * $0)) })
    }
}

/// The 64-bit Fowler-Noll-Vo hash, FNV-1a.
///
/// The hash of a text is the same in each run.
private struct FNVHash {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func combine(_ key: String, _ value: String) {
        combine(key)
        combine(value)
    }

    private mutating func combine(_ text: String) {
        for byte in text.utf8 { combine(byte) }
        // This byte marks the end of a text, because no text contains it.
        combine(0xFF)
    }

    private mutating func combine(_ byte: UInt8) {
        value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
    }
}
