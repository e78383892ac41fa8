extension AttributeTable {
    /// One attribute of an attribute table.
    public struct Attribute: Hashable, Sendable {
        /// The handle.
        public let handle: AttributeHandle
        /// The attribute type.
        public let type: BluetoothUUID
        /// The kind of the attribute, and its position in the list of services.
        public let kind: Kind
    }
}

extension AttributeTable {
    /// The kind of an attribute, and its position in the list of services.
    ///
    /// The associated value `service` is an index into the table's array of services. The associated value
    /// `include` is an index into the service's array of included services. The associated value
    /// `characteristic` is an index into the service's array of characteristics. The associated value
    /// `descriptor` is an index into the characteristic's array of descriptors.
    public enum Kind: Hashable, Sendable {
        /// The declaration of a primary or secondary service.
        case serviceDeclaration(service: Int)
        /// The include declaration of a service, which refers to an included service.
        ///
        /// The value `include` is an index into the service's array `includedServices`.
        case include(service: Int, include: Int)
        /// The declaration of a characteristic.
        case characteristicDeclaration(service: Int, characteristic: Int)
        /// The value of a characteristic.
        case characteristicValue(service: Int, characteristic: Int)
        /// The Client Characteristic Configuration descriptor, which the Bluetooth stack adds to a
        /// characteristic.
        case clientCharacteristicConfiguration(service: Int, characteristic: Int)
        /// The Characteristic Extended Properties descriptor, which the Bluetooth stack adds to a
        /// characteristic.
        case extendedProperties(service: Int, characteristic: Int)
        /// A descriptor that the program declares for a characteristic.
        case descriptor(service: Int, characteristic: Int, descriptor: Int)

        /// The index of the service that contains the attribute.
        public var service: Int {
            switch self {
            case .serviceDeclaration(let service), .include(let service, _),
                .characteristicDeclaration(let service, _), .characteristicValue(let service, _),
                .clientCharacteristicConfiguration(let service, _), .extendedProperties(let service, _),
                .descriptor(let service, _, _):
                service
            }
        }

        /// The index of the characteristic that contains the attribute, or `nil` if there is none.
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

    /// Returns the characteristic that contains an attribute of the table.
    ///
    /// The method returns `nil` if no characteristic contains the attribute. For example, no characteristic
    /// contains a service declaration.
    public func characteristic(of kind: Kind) -> CharacteristicDescription? {
        kind.characteristic.map { services[kind.service].characteristics[$0] }
    }
}

extension CharacteristicProperties {
    /// The number of descriptors that the stack adds to a characteristic with these properties.
    var stackDescriptorCount: Int {
        (allowsSubscription ? 1 : 0) + (hasExtendedProperties ? 1 : 0)
    }
}

extension ServiceDescription {
    /// The number of handles that the service occupies.
    package var attributeCount: Int {
        characteristics.reduce(1 + includedServices.count) { count, characteristic in
            count + 2 + characteristic.properties.stackDescriptorCount + characteristic.descriptors.count
        }
    }

    /// Returns the attributes of the service with this index, in handle order.
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
