internal import PeripheralCore

extension ServerDatabase {
    /// Adds the services of an application: those that are pinned where they want to be, the others behind all
    /// handles that were ever given.
    ///
    /// - Parameters:
    ///   - table: The services.
    ///   - application: Whose they are.
    ///   - authorizing: The attributes that are prepared for writing with the application's consent only.
    ///   - starts: Where services want to be that are not pinned, by their place.
    ///   - asBluetoothd: Whether services that are pinned meet those of other applications as in bluetoothd.
    /// - Returns: The handles of each service.
    /// - Throws: `AttributeTableError` when the handles are used up, or taken.
    mutating func add(
        _ table: AttributeTable,
        of application: ApplicationID,
        authorizing: Set<AttributeHandle> = [],
        at starts: [Int: AttributeHandle] = [:],
        asBluetoothd: Bool = false
    ) throws(AttributeTableError) -> [ClosedRange<AttributeHandle>] {
        var services = table.services
        var next = nextHandle
        for (index, start) in starts {
            let range = table.serviceRange(index)
            services[index].handle = start
            next = max(
                next,
                Int(start.rawValue) + Int(range.upperBound.rawValue - range.lowerBound.rawValue) + 1
            )
        }
        // Past the last handle there is none: 0 is refused by the table.
        let first = AttributeHandle(rawValue: UInt16(exactly: next) ?? 0)
        let onAir = try AttributeTable(services: services, firstHandle: first)
        for index in onAir.services.indices {
            let range = onAir.serviceRange(index)
            let isRobbed = asBluetoothd && removeService(equalTo: onAir.services[index], at: range)
            if isRobbed {
                throw .handleCollision(
                    range,
                    service: onAir.services[index].uuid,
                    at: index,
                    with: onAir.services[index].uuid
                )
            }
            if let other = service(inTheWayOf: range, asBluetoothd: asBluetoothd) {
                throw .handleCollision(
                    range,
                    service: onAir.services[index].uuid,
                    at: index,
                    with: other.uuid
                )
            }
        }
        let locals = Dictionary(table.attributes.map { ($0.kind, $0.handle) }) { first, _ in first }
        let attributes = onAir.attributes.map { attribute in
            let local = locals[attribute.kind] ?? attribute.handle
            var attribute = ServerAttribute(attribute, of: onAir, application: application, local: local)
            attribute.authorizesWrites = authorizing.contains(local)
            return attribute
        }
        for index in onAir.services.indices {
            let service = DiscoveredService(index, of: onAir)
            insert(
                service,
                of: application,
                attributes: attributes.filter { service.handles.contains($0.handle) },
                properties: Dictionary(
                    zip(
                        service.characteristics.map(\.valueHandle),
                        onAir.services[index].characteristics.map(\.properties)
                    )
                ) { $1 }
            )
        }
        note(
            onAir.services.indices.map { index in
                (table.serviceRange(index).lowerBound, onAir.serviceRange(index).lowerBound)
            },
            of: application
        )
        return onAir.services.indices.map(onAir.serviceRange)
    }
}

extension DiscoveredService {
    /// A service of a table as centrals discover it.
    fileprivate init(_ index: Int, of table: AttributeTable) {
        let service = table.services[index]
        self.init(
            uuid: service.uuid,
            handles: table.serviceRange(index),
            characteristics: [],
            isPrimary: service.isPrimary,
            includedServices: service.includedServices.map { table.serviceRange($0).lowerBound }
        )
        for attribute in table.attributes where attribute.kind.service == index {
            switch attribute.kind {
            case .serviceDeclaration, .include, .characteristicValue:
                break
            case .characteristicDeclaration(_, let characteristic):
                let description = table.services[index].characteristics[characteristic]
                characteristics.append(
                    DiscoveredCharacteristic(
                        uuid: description.uuid,
                        declarationHandle: attribute.handle,
                        valueHandle: table.valueHandle(service: index, characteristic: characteristic),
                        properties: CharacteristicProperties(
                            rawValue: description.properties.rawValue & 0x7F
                        ),
                        descriptors: []
                    )
                )
            case .clientCharacteristicConfiguration(_, let characteristic),
                .extendedProperties(_, let characteristic), .descriptor(_, let characteristic, _):
                characteristics[characteristic].descriptors.append(
                    DiscoveredDescriptor(uuid: attribute.type, handle: attribute.handle)
                )
            }
        }
    }
}

extension ServerAttribute {
    /// An attribute of an application, which knows it by the handle `local`.
    fileprivate init(
        _ attribute: AttributeTable.Attribute,
        of table: AttributeTable,
        application: ApplicationID,
        local: AttributeHandle
    ) {
        let characteristics = table.services[attribute.kind.service].characteristics
        switch attribute.kind {
        case .serviceDeclaration, .include, .characteristicDeclaration, .extendedProperties:
            self.init(
                handle: attribute.handle,
                permissions: .read,
                content: .fixed(table.fixedValue(of: attribute.handle) ?? [])
            )
        case .characteristicValue(_, let index):
            let characteristic = characteristics[index]
            self.init(
                handle: attribute.handle,
                permissions: characteristic.properties.permissions,
                readSecurity: characteristic.security.read,
                writeSecurity: characteristic.security.write,
                content: .application(
                    application,
                    local,
                    acknowledgesWrites: characteristic.properties.contains(.writeWithoutResponse)
                )
            )
        case .clientCharacteristicConfiguration(let service, let index):
            self.init(
                handle: attribute.handle,
                permissions: [.read, .write],
                writeSecurity: characteristics[index].security.notify,
                content: .configuration(of: table.valueHandle(service: service, characteristic: index))
            )
        case .descriptor(_, let index, let position):
            let descriptor = characteristics[index].descriptors[position]
            self.init(
                handle: attribute.handle,
                permissions: descriptor.permissions,
                readSecurity: descriptor.security.read,
                writeSecurity: descriptor.security.write,
                content: .application(application, local, acknowledgesWrites: false)
            )
        }
    }
}

extension CharacteristicProperties {
    /// What bluetoothd lets through: any of the ways to write makes the value writable in all of them.
    fileprivate var permissions: DescriptorPermissions {
        var permissions: DescriptorPermissions = []
        if contains(.read) { permissions.insert(.read) }
        let writing: CharacteristicProperties = [
            .write, .writeWithoutResponse, .authenticatedSignedWrites, .reliableWrite,
        ]
        if !isDisjoint(with: writing) { permissions.insert(.write) }
        return permissions
    }
}
