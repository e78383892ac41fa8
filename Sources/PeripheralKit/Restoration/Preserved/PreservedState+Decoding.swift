internal import PeripheralCore

extension PreservedState {
    /// Takes a state from what was saved.
    ///
    /// What is unknown in it is ignored.
    ///
    /// - Throws: ``RestorationError`` with the code ``RestorationError/Code/newerVersion`` or
    ///   ``RestorationError/Code/damaged``.
    package init(decoding document: RestorationDocument) throws(RestorationError) {
        guard let peripheral = document[PreservedSchema.peripheral] else {
            throw .damaged("it is of no peripheral")
        }
        try Self.examineVersion(peripheral["version"])
        guard let name = peripheral["name"].flatMap({ String(preserved: $0) }) else {
            throw .damaged("the peripheral has no name")
        }
        var adapter: DeviceAddress?
        if let text = peripheral["adapter"] {
            guard let address = DeviceAddress(text) else { throw .damaged("\"adapter\" is no address") }
            adapter = address
        }
        let database = try PreservedDatabase(decoding: document[PreservedSchema.database])
        guard peripheral["fingerprint"] == database.fingerprint.preservedText else {
            throw .damaged("the database is not the one that was published")
        }
        self.init(
            name: name,
            adapter: adapter,
            database: database,
            advertisements: try Self.advertisements(in: document),
            subscribers: try Self.subscribers(in: document, of: database),
            values: try Self.values(in: document[PreservedSchema.values], of: database),
            formerValues: try Self.values(in: document[PreservedSchema.formerValues], of: database),
            updates: try Self.updates(in: document, of: database),
            options: try Self.options(in: document, of: database),
            formats: try Self.formats(in: document, of: database)
        )
    }

    private static func examineVersion(_ text: String?) throws(RestorationError) {
        let numbers = text?.split(separator: ".", maxSplits: 1).map { UInt32($0) } ?? []
        guard numbers.count == 2, let major = numbers[0], numbers[1] != nil else {
            throw .damaged("it has no version")
        }
        guard major <= PreservedSchema.majorVersion else {
            throw RestorationError(
                code: .newerVersion,
                message: "The preserved state has the form \(major), and this program knows those up to "
                    + "\(PreservedSchema.majorVersion): a newer version has saved it."
            )
        }
    }

    private static func advertisements(
        in document: RestorationDocument
    ) throws(RestorationError) -> [Advertisement] {
        var advertisements: [Advertisement] = []
        while advertisements.count < PreservedSchema.maximumAdvertisements,
            let group = document[PreservedSchema.advertisement + "\(advertisements.count)"]
        {
            advertisements.append(try Advertisement(preserved: group))
        }
        return advertisements
    }

    private static func subscribers(
        in document: RestorationDocument,
        of database: PreservedDatabase
    ) throws(RestorationError) -> [PreservedSubscriber] {
        var subscribers: [PreservedSubscriber] = []
        for entry in document[PreservedSchema.subscribers]?.entries ?? [] {
            guard subscribers.count < PreservedSchema.maximumSubscribers else {
                throw .damaged("it has more than \(PreservedSchema.maximumSubscribers) subscribers")
            }
            var words = PreservedWords(entry.value, of: "subscriber \(entry.key)")
            let characteristic = try words.next("characteristic", AttributeHandle.init(preserved:))
            guard database.isSubscribable(characteristic) else {
                throw .damaged("subscriber \(entry.key) has subscribed to nothing that is there")
            }
            subscribers.append(
                PreservedSubscriber(
                    address: try words.next("address") { DeviceAddress(String($0)) },
                    addressKind: try words.nextIfAny("kind of address") {
                        switch $0 {
                        case "public": .public
                        case "random": .random
                        default: nil
                        }
                    },
                    isBonded: try words.next("bond") {
                        switch $0 {
                        case "bonded": true
                        case "temporary": false
                        default: nil
                        }
                    },
                    characteristic: characteristic,
                    kind: try words.nextIfAny("kind") {
                        switch $0 {
                        case "notify": .notification
                        case "indicate": .indication
                        default: nil
                        }
                    },
                    since: try words.next("time") { Int64($0) }
                )
            )
        }
        return subscribers
    }

    private static func updates(
        in document: RestorationDocument,
        of database: PreservedDatabase
    ) throws(RestorationError) -> [PreservedUpdate] {
        var updates: [PreservedUpdate] = []
        for entry in document[PreservedSchema.updates]?.entries ?? [] {
            guard updates.count < PreservedSchema.maximumUpdates else {
                throw .damaged("it has more than \(PreservedSchema.maximumUpdates) updates")
            }
            var words = PreservedWords(entry.value, of: "update \(entry.key)")
            let characteristic = try words.next("characteristic", AttributeHandle.init(preserved:))
            guard database.isSubscribable(characteristic) else {
                throw .damaged("update \(entry.key) is of nothing that has subscribers")
            }
            updates.append(
                PreservedUpdate(
                    characteristic: characteristic,
                    address: try words.next("address") { DeviceAddress(String($0)) },
                    value: try words.next("bytes", PreservedBytes.bytes(of:))
                )
            )
        }
        return updates
    }

    private static func values(
        in group: RestorationDocument.Group?,
        of database: PreservedDatabase
    ) throws(RestorationError) -> [AttributeHandle: [UInt8]] {
        var values: [AttributeHandle: [UInt8]] = [:]
        for entry in group?.entries ?? [] {
            guard let handle = AttributeHandle(preserved: entry.key[...]),
                case .characteristicValue = database.table[handle]?.kind
            else { throw .damaged("the value \"\(entry.key)\" is of no characteristic") }
            var words = PreservedWords(entry.value, of: "value \(entry.key)")
            values[handle] = try words.next("bytes", PreservedBytes.bytes(of:))
        }
        return values
    }
}

extension PreservedState {
    private static func options(
        in document: RestorationDocument,
        of database: PreservedDatabase
    ) throws(RestorationError) -> [AttributeHandle: PreservedOptions] {
        var options: [AttributeHandle: PreservedOptions] = [:]
        for entry in document[PreservedSchema.options]?.entries ?? [] {
            guard let handle = AttributeHandle(preserved: entry.key[...]),
                case .characteristicValue = database.table[handle]?.kind
            else { throw .damaged("the options \"\(entry.key)\" are of no characteristic") }
            options[handle] = try PreservedOptions(decoding: entry.value, of: entry.key)
        }
        return options
    }

    private static func formats(
        in document: RestorationDocument,
        of database: PreservedDatabase
    ) throws(RestorationError) -> [AttributeHandle: [AttributeHandle]] {
        var formats: [AttributeHandle: [AttributeHandle]] = [:]
        for entry in document[PreservedSchema.formats]?.entries ?? [] {
            guard let handle = AttributeHandle(preserved: entry.key[...]), database.isDescriptor(handle)
            else { throw .damaged("the formats \"\(entry.key)\" are of no descriptor") }
            var words = PreservedWords(entry.value, of: "formats \(entry.key)")
            formats[handle] = []
            while !words.isEmpty {
                let format = try words.next("descriptor", AttributeHandle.init(preserved:))
                guard database.isDescriptor(format) else {
                    throw .damaged("the formats \"\(entry.key)\" are no descriptors")
                }
                formats[handle]?.append(format)
            }
        }
        return formats
    }
}

// MARK: - The database

extension PreservedDatabase {
    fileprivate func isSubscribable(_ handle: AttributeHandle) -> Bool {
        guard let kind = table[handle]?.kind, case .characteristicValue = kind else { return false }
        return table.characteristic(of: kind)?.properties.allowsSubscription ?? false
    }

    fileprivate func isDescriptor(_ handle: AttributeHandle) -> Bool {
        if case .descriptor = table[handle]?.kind { true } else { false }
    }

    fileprivate init(decoding group: RestorationDocument.Group?) throws(RestorationError) {
        guard let group else { throw .damaged("it has no database") }
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

/// A database that is put together attribute by attribute.
private struct DatabaseDraft {
    private var services: [ServiceDescription] = []
    private var positions: [AttributeHandle: Int] = [:]
    private var startsOnAir: [Int: AttributeHandle] = [:]
    private var staticValues: [AttributeHandle: [UInt8]] = [:]
    /// Where each attribute was said to stand, to be compared with where it stands.
    private var handles: [AttributeTable.Kind: AttributeHandle] = [:]

    mutating func add(_ words: PreservedWords, at handle: AttributeHandle) throws(RestorationError) {
        var words = words
        let kind = try words.next("kind") { String($0) }
        if kind == "service" { return try addService(&words, at: handle) }
        guard !services.isEmpty else { throw .damaged("attribute \(handle) stands before the first service") }
        switch kind {
        case "include": try addInclude(&words, at: handle)
        case "characteristic": try addCharacteristic(&words, at: handle)
        case "descriptor": try addDescriptor(&words, at: handle)
        default: throw .damaged("attribute \(handle) is of no known kind")
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
            throw .damaged("attribute \(handle) includes no service before its own")
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
        guard characteristic >= 0 else { throw .damaged("descriptor \(handle) is of no characteristic") }
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
            table = try AttributeTable(services: services)
        } catch {
            throw .damaged("its services cannot stand in one database: \(error)")
        }
        for attribute in table.attributes {
            if let handle = handles[attribute.kind], handle != attribute.handle {
                throw .damaged("attribute \(handle) stands at \(attribute.handle)")
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
