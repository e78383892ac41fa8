extension AttributeTable {
    /// One attribute of a table.
    public struct Attribute: Hashable, Sendable {
        /// The handle.
        public let handle: AttributeHandle
        /// The attribute type.
        public let type: BluetoothUUID
        /// What the attribute is, and whose.
        public let kind: Kind
    }
}

extension AttributeTable {
    /// What an attribute is, and whose: the numbers are indices into the table's services and the arrays in
    /// them.
    public enum Kind: Hashable, Sendable {
        /// The declaration of a service, primary or secondary.
        case serviceDeclaration(service: Int)
        /// The inclusion of another service; `include` is the index in the service's `includedServices`.
        case include(service: Int, include: Int)
        /// The declaration of a characteristic.
        case characteristicDeclaration(service: Int, characteristic: Int)
        /// The value of a characteristic.
        case characteristicValue(service: Int, characteristic: Int)
        /// The Client Characteristic Configuration descriptor of a characteristic, which the stack adds.
        case clientCharacteristicConfiguration(service: Int, characteristic: Int)
        /// The Characteristic Extended Properties descriptor of a characteristic, which the stack adds.
        case extendedProperties(service: Int, characteristic: Int)
        /// A declared descriptor of a characteristic.
        case descriptor(service: Int, characteristic: Int, descriptor: Int)

        /// The service that the attribute belongs to.
        public var service: Int {
            switch self {
            case .serviceDeclaration(let service), .include(let service, _),
                .characteristicDeclaration(let service, _), .characteristicValue(let service, _),
                .clientCharacteristicConfiguration(let service, _), .extendedProperties(let service, _),
                .descriptor(let service, _, _):
                service
            }
        }

        /// The characteristic that the attribute belongs to; `nil` for what belongs to the service itself.
        public var characteristic: Int? {
            switch self {
            case .serviceDeclaration, .include:
                nil
            case .characteristicDeclaration(_, let characteristic),
                .characteristicValue(_, let characteristic),
                .clientCharacteristicConfiguration(_, let characteristic),
                .extendedProperties(_, let characteristic), .descriptor(_, let characteristic, _):
                characteristic
            }
        }
    }

    /// The characteristic that an attribute of this table belongs to; `nil` for what belongs to the service
    /// itself.
    public func characteristic(of kind: Kind) -> CharacteristicDescription? {
        kind.characteristic.map { services[kind.service].characteristics[$0] }
    }
}

extension CharacteristicProperties {
    /// How many descriptors the stack adds to a characteristic of these properties.
    var stackDescriptorCount: Int {
        (allowsSubscription ? 1 : 0) + (hasExtendedProperties ? 1 : 0)
    }
}

extension ServiceDescription {
    /// How many handles the service takes.
    var attributeCount: Int {
        characteristics.reduce(1 + includedServices.count) { count, characteristic in
            count + 2 + characteristic.properties.stackDescriptorCount + characteristic.descriptors.count
        }
    }

    /// The attributes of the service in the order of their handles, for a service of this index.
    func attributes(at service: Int) -> [(BluetoothUUID, AttributeTable.Kind)] {
        var attributes: [(BluetoothUUID, AttributeTable.Kind)] = []
        attributes.reserveCapacity(attributeCount)
        attributes.append(
            (isPrimary ? .primaryService : .secondaryService, .serviceDeclaration(service: service))
        )
        for include in includedServices.indices {
            attributes.append((.include, .include(service: service, include: include)))
        }
        for (index, characteristic) in characteristics.enumerated() {
            attributes += characteristic.attributes(at: index, service: service)
        }
        return attributes
    }
}

extension CharacteristicDescription {
    fileprivate func attributes(
        at index: Int,
        service: Int
    ) -> [(BluetoothUUID, AttributeTable.Kind)] {
        var attributes: [(BluetoothUUID, AttributeTable.Kind)] = [
            (.characteristic, .characteristicDeclaration(service: service, characteristic: index)),
            (uuid, .characteristicValue(service: service, characteristic: index)),
        ]
        if properties.allowsSubscription {
            attributes.append(
                (
                    .clientCharacteristicConfiguration,
                    .clientCharacteristicConfiguration(service: service, characteristic: index)
                )
            )
        }
        if properties.hasExtendedProperties {
            attributes.append(
                (
                    .characteristicExtendedProperties,
                    .extendedProperties(service: service, characteristic: index)
                )
            )
        }
        for (position, descriptor) in descriptors.enumerated() {
            attributes.append(
                (
                    descriptor.uuid,
                    .descriptor(service: service, characteristic: index, descriptor: position)
                )
            )
        }
        return attributes
    }
}
