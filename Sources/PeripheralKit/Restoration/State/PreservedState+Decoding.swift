internal import PeripheralCore

extension PreservedState {
    /// Decodes a state that was saved.
    ///
    /// Unknown contents are ignored.
    ///
    /// - Throws: ``RestorationError`` with the code ``RestorationError/Code/newerVersion`` or
    ///   ``RestorationError/Code/damaged``.
    package init(decoding restorationState: RestorationState) throws(RestorationError) {
        guard let peripheral = restorationState[PreservedSchema.peripheral] else {
            throw .damaged("the peripheral is missing")
        }
        try Self.examineVersion(peripheral["version"])
        guard let name = peripheral["name"].flatMap({ String(preserved: $0) }) else {
            throw .damaged("the peripheral has no name")
        }
        var adapter: DeviceAddress?
        if let text = peripheral["adapter"] {
            guard let address = DeviceAddress(text) else { throw .damaged("\"adapter\" is not an address") }
            adapter = address
        }
        var backendState = ""
        if let text = peripheral[PreservedSchema.backend] {
            guard let state = String(preserved: text), state.utf8.count <= PreservedSchema.maximumBackendState
            else { throw .damaged("\"backend\" is not valid") }
            backendState = state
        }
        let database = try PreservedDatabase(decoding: restorationState[PreservedSchema.database])
        guard peripheral["fingerprint"] == database.fingerprint.preservedText else {
            throw .damaged("the database is not the one that was published")
        }
        self.init(
            name: name,
            adapter: adapter,
            database: database,
            advertisements: try Self.advertisements(in: restorationState),
            subscribers: try Self.subscribers(in: restorationState, of: database),
            values: try Self.values(in: restorationState[PreservedSchema.values], of: database),
            formerValues: try Self.values(in: restorationState[PreservedSchema.formerValues], of: database),
            updates: try Self.updates(in: restorationState, of: database),
            options: try Self.options(in: restorationState, of: database),
            formats: try Self.formats(in: restorationState, of: database),
            formerPlaces: try Self.formerPlaces(in: restorationState),
            bonds: try Self.bonds(in: restorationState),
            backendState: backendState
        )
    }

    private static func examineVersion(_ text: String?) throws(RestorationError) {
        let numbers = text?.split(separator: ".", maxSplits: 1).map { UInt32($0) } ?? []
        guard numbers.count == 2, let major = numbers[0], numbers[1] != nil else {
            throw .damaged("the version is missing")
        }
        guard major <= PreservedSchema.majorVersion else {
            throw RestorationError(
                code: .newerVersion,
                message: "The preserved state has version \(major). This program can read versions up to "
                    + "\(PreservedSchema.majorVersion). A newer version of the program has saved it.",
                version: Int(major)
            )
        }
    }

    private static func advertisements(
        in restorationState: RestorationState
    ) throws(RestorationError) -> [Advertisement] {
        var advertisements: [Advertisement] = []
        while advertisements.count < PreservedSchema.maximumAdvertisements,
            let group = restorationState[PreservedSchema.advertisement + "\(advertisements.count)"]
        {
            advertisements.append(try Advertisement(preserved: group))
        }
        return advertisements
    }

    private static func subscribers(
        in restorationState: RestorationState,
        of database: PreservedDatabase
    ) throws(RestorationError) -> [PreservedSubscriber] {
        var subscribers: [PreservedSubscriber] = []
        for entry in restorationState[PreservedSchema.subscribers]?.entries ?? [] {
            guard subscribers.count < PreservedSchema.maximumSubscribers else {
                throw .damaged("there are more than \(PreservedSchema.maximumSubscribers) subscribers")
            }
            var words = PreservedWords(entry.value, of: "subscriber \(entry.key)")
            let characteristic = try words.next("characteristic", AttributeHandle.init(preserved:))
            guard database.table.isSubscribable(characteristic) else {
                throw .damaged("subscriber \(entry.key) has an unknown characteristic")
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
                    since: try words.next("time") { Int64($0) },
                    adapter: words.isEmpty
                        ? nil : try words.nextIfAny("adapter") { DeviceAddress(String($0)) }
                )
            )
        }
        return subscribers
    }

    private static func updates(
        in restorationState: RestorationState,
        of database: PreservedDatabase
    ) throws(RestorationError) -> [PreservedUpdate] {
        var updates: [PreservedUpdate] = []
        for entry in restorationState[PreservedSchema.updates]?.entries ?? [] {
            guard updates.count < PreservedSchema.maximumUpdates else {
                throw .damaged("there are more than \(PreservedSchema.maximumUpdates) updates")
            }
            var words = PreservedWords(entry.value, of: "update \(entry.key)")
            let characteristic = try words.next("characteristic", AttributeHandle.init(preserved:))
            guard database.table.isSubscribable(characteristic) else {
                throw .damaged("update \(entry.key) belongs to no characteristic that has subscribers")
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
        in group: RestorationState.Group?,
        of database: PreservedDatabase
    ) throws(RestorationError) -> [AttributeHandle: [UInt8]] {
        var values: [AttributeHandle: [UInt8]] = [:]
        for entry in group?.entries ?? [] {
            guard let handle = AttributeHandle(preserved: entry.key[...]),
                case .characteristicValue = database.table[handle]?.kind
            else { throw .damaged("the value \"\(entry.key)\" belongs to no characteristic") }
            var words = PreservedWords(entry.value, of: "value \(entry.key)")
            values[handle] = try words.next("bytes", PreservedBytes.bytes(of:))
        }
        return values
    }
}

extension PreservedState {
    private static func formerPlaces(
        in restorationState: RestorationState
    ) throws(RestorationError) -> FormerPlaces {
        guard let group = restorationState[PreservedSchema.formerPlaces] else { return FormerPlaces() }
        let database = try PreservedDatabase(decoding: group)
        let values = restorationState[PreservedSchema.valuesOfFormerPlaces]
        return FormerPlaces(database, values: try Self.values(in: values, of: database))
    }

    private static func bonds(
        in restorationState: RestorationState
    ) throws(RestorationError) -> [DeviceAddress] {
        var bonds: [DeviceAddress] = []
        for entry in restorationState[PreservedSchema.bonds]?.entries ?? [] {
            guard let address = DeviceAddress(entry.value), bonds.count < PairingStateMachine.maximumOrder
            else {
                throw .damaged("the bond \"\(entry.key)\" is not valid")
            }
            bonds.append(address)
        }
        return bonds
    }

    private static func options(
        in restorationState: RestorationState,
        of database: PreservedDatabase
    ) throws(RestorationError) -> [AttributeHandle: PreservedOptions] {
        var options: [AttributeHandle: PreservedOptions] = [:]
        for entry in restorationState[PreservedSchema.options]?.entries ?? [] {
            guard let handle = AttributeHandle(preserved: entry.key[...]),
                case .characteristicValue = database.table[handle]?.kind
            else { throw .damaged("the options \"\(entry.key)\" belong to no characteristic") }
            options[handle] = try PreservedOptions(decoding: entry.value, of: entry.key)
        }
        return options
    }

    private static func formats(
        in restorationState: RestorationState,
        of database: PreservedDatabase
    ) throws(RestorationError) -> [AttributeHandle: [AttributeHandle]] {
        var formats: [AttributeHandle: [AttributeHandle]] = [:]
        for entry in restorationState[PreservedSchema.formats]?.entries ?? [] {
            guard let handle = AttributeHandle(preserved: entry.key[...]), database.table.isDescriptor(handle)
            else { throw .damaged("the formats \"\(entry.key)\" belong to no descriptor") }
            var words = PreservedWords(entry.value, of: "formats \(entry.key)")
            formats[handle] = []
            while !words.isEmpty {
                let format = try words.next("descriptor", AttributeHandle.init(preserved:))
                guard database.table.isDescriptor(format) else {
                    throw .damaged("the formats \"\(entry.key)\" are not descriptors")
                }
                formats[handle]?.append(format)
            }
        }
        return formats
    }
}
