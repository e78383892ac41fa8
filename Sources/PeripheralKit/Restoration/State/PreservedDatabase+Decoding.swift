internal import PeripheralCore

extension AttributeTable {
    /// Returns whether the handle is that of a characteristic's value that centrals can subscribe to.
    func isSubscribable(_ handle: AttributeHandle) -> Bool {
        guard let kind = self[handle]?.kind, case .characteristicValue = kind else { return false }
        return characteristic(of: kind)?.properties.allowsSubscription ?? false
    }

    /// Returns whether the handle is that of a declared descriptor.
    func isDescriptor(_ handle: AttributeHandle) -> Bool {
        if case .descriptor = self[handle]?.kind { true } else { false }
    }
}

extension PreservedDatabase {
    init(decoding group: RestorationState.Group?) throws(RestorationError) {
        guard let group else { throw .damaged("the database is missing") }
        var draft = DatabaseDraft()
        for entry in group.entries {
            guard let handle = AttributeHandle(preserved: entry.key[...]) else {
                throw .damaged("the attribute \"\(entry.key)\" has no handle")
            }
            try draft.add(PreservedWords(entry.value, of: "attribute \(entry.key)"), at: handle)
        }
        self = try draft.finished()
    }
}

/// A database that is assembled attribute by attribute.
private struct DatabaseDraft {
    private var services: [ServiceDescription] = []
    private var positions: [AttributeHandle: Int] = [:]
    private var startsOnAir: [Int: AttributeHandle] = [:]
    private var staticValues: [AttributeHandle: [UInt8]] = [:]
    /// The preserved handle of each attribute, to be compared with its handle in the table.
    private var handles: [AttributeTable.Kind: AttributeHandle] = [:]

    mutating func add(_ words: PreservedWords, at handle: AttributeHandle) throws(RestorationError) {
        var words = words
        let kind = try words.next("kind") { String($0) }
        if kind == "service" { return try addService(&words, at: handle) }
        guard !services.isEmpty else { throw .damaged("attribute \(handle) is before the first service") }
        switch kind {
        case "include": try addInclude(&words, at: handle)
        case "characteristic": try addCharacteristic(&words, at: handle)
        case "descriptor": try addDescriptor(&words, at: handle)
        default: throw .damaged("attribute \(handle) has an unknown kind")
        }
    }

    private mutating func addService(
        _ words: inout PreservedWords,
        at handle: AttributeHandle
    ) throws(RestorationError) {
        let service = services.count
        services.append(
            ServiceDescription(
                uuid: try words.next("UUID") { BluetoothUUID(String($0)) },
                isPrimary: try words.next("role") {
                    switch $0 {
                    case "primary": true
                    case "secondary": false
                    default: nil
                    }
                },
                handle: try words.nextIfAny("handle", AttributeHandle.init(preserved:))
            )
        )
        startsOnAir[service] = try words.nextIfAny("handle on the air", AttributeHandle.init(preserved:))
        positions[handle] = service
        handles[.serviceDeclaration(service: service)] = handle
    }

    private mutating func addInclude(
        _ words: inout PreservedWords,
        at handle: AttributeHandle
    ) throws(RestorationError) {
        let service = services.count - 1
        let included = try words.next("included service", AttributeHandle.init(preserved:))
        guard let position = positions[included], position < service else {
            throw .damaged("attribute \(handle) does not include an earlier service")
        }
        handles[.include(service: service, include: services[service].includedServices.count)] = handle
        services[service].includedServices.append(position)
    }

    private mutating func addCharacteristic(
        _ words: inout PreservedWords,
        at handle: AttributeHandle
    ) throws(RestorationError) {
        let service = services.count - 1
        let characteristic = services[service].characteristics.count
        services[service].characteristics.append(
            CharacteristicDescription(
                uuid: try words.next("UUID") { BluetoothUUID(String($0)) },
                properties: try words.next("properties") {
                    UInt16($0, radix: 16).map(CharacteristicProperties.init(rawValue:))
                },
                security: try words.next("security", AttributeSecurity.init(preserved:)),
                requiresAuthorization: try words.nextIfAny("authorization") { $0 == "asks" ? true : nil }
                    ?? false
            )
        )
        handles[.characteristicValue(service: service, characteristic: characteristic)] = handle
        try addStaticValue(&words, at: handle)
    }

    private mutating func addDescriptor(
        _ words: inout PreservedWords,
        at handle: AttributeHandle
    ) throws(RestorationError) {
        let service = services.count - 1
        let characteristic = services[service].characteristics.count - 1
        guard characteristic >= 0 else { throw .damaged("descriptor \(handle) belongs to no characteristic") }
        let position = services[service].characteristics[characteristic].descriptors.count
        services[service].characteristics[characteristic].descriptors.append(
            DescriptorDescription(
                uuid: try words.next("UUID") { BluetoothUUID(String($0)) },
                permissions: try words.next("permissions") {
                    UInt8($0).map(DescriptorPermissions.init(rawValue:))
                },
                security: try words.next("security", AttributeSecurity.init(preserved:))
            )
        )
        handles[
            .descriptor(service: service, characteristic: characteristic, descriptor: position)
        ] = handle
        try addStaticValue(&words, at: handle)
    }

    private mutating func addStaticValue(
        _ words: inout PreservedWords,
        at handle: AttributeHandle
    ) throws(RestorationError) {
        guard !words.isEmpty else { return }
        staticValues[handle] = try words.next("value", PreservedBytes.bytes(of:))
    }

    func finished() throws(RestorationError) -> PreservedDatabase {
        let table: AttributeTable
        do throws(AttributeTableError) {
            // Services that were added during a run can begin anywhere in the table.
            let starts = positions.map { ($0.value, $0.key) }
            table = try AttributeTable(
                services: services,
                starts: Dictionary(starts) { first, _ in first }
            )
        } catch {
            throw .damaged("the services do not fit into one database: \(error)")
        }
        for attribute in table.attributes {
            if let handle = handles[attribute.kind], handle != attribute.handle {
                throw .damaged("attribute \(handle) has the handle \(attribute.handle)")
            }
        }
        for (service, start) in startsOnAir {
            let range = table.serviceRange(service)
            guard start.advanced(by: range.upperBound.offset(from: range.lowerBound)) != nil else {
                throw .damaged("service \(range.lowerBound) ends behind the last handle on the air")
            }
        }
        return PreservedDatabase(table: table, staticValues: staticValues, startsOnAir: startsOnAir)
    }
}

extension AttributeSecurity {
    fileprivate init?(preserved text: Substring) {
        let levels = text.utf8.compactMap { SecurityLevel(rawValue: $0 &- UInt8(ascii: "0")) }
        guard text.utf8.count == 3, levels.count == 3 else { return nil }
        self.init(read: levels[0], write: levels[1], notify: levels[2])
    }
}
