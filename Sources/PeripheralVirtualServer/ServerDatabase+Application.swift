internal import PeripheralCore

extension ServerDatabase {
    /// Adds the services of an application.
    ///
    /// Pinned services get their pinned handles. The other services follow all handles that were ever
    /// assigned.
    ///
    /// - Parameters:
    ///   - table: The services.
    ///   - application: The application that the services belong to.
    ///   - authorizing: The attributes whose prepared writes the application has to authorize.
    ///   - starts: The requested handles of services that are not pinned, by the index of the service.
    ///   - asBluetoothd: Whether collisions of pinned services with those of other applications are handled
    ///     as in bluetoothd.
    /// - Returns: The handles of each service.
    /// - Throws: `AttributeTableError` when the handles are used up or taken.
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
        // After the last handle there is none: the table refuses 0.
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
    /// Converts a service of a table into the service that centrals discover.
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
    /// Creates an attribute that has the handle `local` in the table of its application.
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
    /// The permissions in bluetoothd: each write property permits all kinds of writes.
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
