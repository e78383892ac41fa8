internal import PeripheralCore

extension ServerDatabase {
    /// Adds the services of an application behind all handles that were ever given.
    ///
    /// - Returns: The handles of each service.
    /// - Throws: `AttributeTableError` when the handles are used up.
    mutating func add(
        _ table: AttributeTable,
        of application: ApplicationID
    ) throws(AttributeTableError) -> [ClosedRange<AttributeHandle>] {
        // Past the last handle there is none: 0 is refused by the table.
        let start = AttributeHandle(rawValue: UInt16(exactly: nextHandle) ?? 0)
        let onAir = try AttributeTable(services: table.services, firstHandle: start)
        let services = table.services.indices.map { index in
            ApplicationService(index, of: table, application: application, onAir: onAir)
        }
        for service in services {
            insert(
                service.discovered,
                of: application,
                attributes: service.attributes,
                properties: service.properties
            )
        }
        return services.map(\.discovered.handles)
    }
}

/// A service of an application at its handles on the air.
private struct ApplicationService {
    var discovered: DiscoveredService
    var attributes: [ServerAttribute] = []
    /// By value handle.
    var properties: [AttributeHandle: CharacteristicProperties] = [:]

    init(_ index: Int, of table: AttributeTable, application: ApplicationID, onAir: AttributeTable) {
        let members = zip(table.attributes, onAir.attributes.map(\.handle)).filter {
            $0.0.kind.service == index
        }
        let description = table.services[index]
        discovered = DiscoveredService(
            uuid: description.uuid,
            handles: members[0].1...members[members.count - 1].1,
            characteristics: []
        )
        for (attribute, handle) in members {
            switch attribute.kind {
            case .serviceDeclaration:
                attributes.append(.serviceDeclaration(description.uuid, at: handle))
            case .include:
                attributes.append(
                    ServerAttribute(
                        handle: handle,
                        permissions: .read,
                        content: .fixed(onAir.fixedValue(of: handle) ?? [])
                    )
                )
            case .characteristicDeclaration(_, let characteristic):
                begin(description.characteristics[characteristic], at: handle)
            case .characteristicValue(_, let characteristic):
                let characteristic = description.characteristics[characteristic]
                properties[handle] = characteristic.properties
                attributes.append(
                    ServerAttribute(
                        handle: handle,
                        permissions: characteristic.properties.permissions,
                        readSecurity: characteristic.security.read,
                        writeSecurity: characteristic.security.write,
                        content: .application(
                            application,
                            attribute.handle,
                            acknowledgesWrites: characteristic.properties.contains(.writeWithoutResponse)
                        )
                    )
                )
            case .clientCharacteristicConfiguration(_, let characteristic):
                addDescriptor(
                    attribute.type,
                    ServerAttribute(
                        handle: handle,
                        permissions: [.read, .write],
                        writeSecurity: description.characteristics[characteristic].security.notify,
                        content: .configuration(of: currentValue)
                    )
                )
            case .extendedProperties(_, let characteristic):
                let bits = description.characteristics[characteristic].properties.rawValue >> 8
                addDescriptor(
                    attribute.type,
                    ServerAttribute(
                        handle: handle,
                        permissions: .read,
                        content: .fixed([UInt8(truncatingIfNeeded: bits), 0])
                    )
                )
            case .descriptor(_, let characteristic, let descriptor):
                let descriptor = description.characteristics[characteristic].descriptors[descriptor]
                addDescriptor(
                    attribute.type,
                    ServerAttribute(
                        handle: handle,
                        permissions: descriptor.permissions,
                        readSecurity: descriptor.security.read,
                        writeSecurity: descriptor.security.write,
                        content: .application(application, attribute.handle, acknowledgesWrites: false)
                    )
                )
            }
        }
    }

    private var currentValue: AttributeHandle {
        discovered.characteristics.last?.valueHandle ?? 0
    }

    private mutating func begin(_ description: CharacteristicDescription, at handle: AttributeHandle) {
        let characteristic = DiscoveredCharacteristic(
            uuid: description.uuid,
            declarationHandle: handle,
            valueHandle: AttributeHandle(rawValue: handle.rawValue + 1),
            properties: CharacteristicProperties(rawValue: description.properties.rawValue & 0x7F),
            descriptors: []
        )
        discovered.characteristics.append(characteristic)
        attributes.append(
            .characteristicDeclaration(characteristic, properties: description.properties.declarationByte)
        )
    }

    private mutating func addDescriptor(_ uuid: BluetoothUUID, _ attribute: ServerAttribute) {
        attributes.append(attribute)
        discovered.characteristics[discovered.characteristics.count - 1].descriptors.append(
            DiscoveredDescriptor(uuid: uuid, handle: attribute.handle)
        )
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
