/// All attributes of a database with their handles.
///
/// The same services always get the same handles. They are given as BlueZ gives them: to each service its
/// declaration; to each characteristic its declaration, its value, the client characteristic configuration where
/// centrals can subscribe, the extended properties where there are any, then its descriptors.
public struct AttributeTable: Hashable, Sendable {
    /// The services, in their order.
    public let services: [ServiceDescription]

    /// The attributes, by rising handles without a gap.
    public let attributes: [Attribute]

    /// One attribute.
    public struct Attribute: Hashable, Sendable {
        /// Its handle.
        public let handle: AttributeHandle
        /// Its type.
        public let type: BluetoothUUID
        /// What it is; the numbers count from 0 in the order of the description.
        public let kind: Kind
    }

    /// What an attribute is.
    public enum Kind: Hashable, Sendable {
        /// The declaration of a service.
        case serviceDeclaration(service: Int)
        /// The declaration of a characteristic.
        case characteristicDeclaration(service: Int, characteristic: Int)
        /// The value of a characteristic.
        case characteristicValue(service: Int, characteristic: Int)
        /// The descriptor by which a central subscribes.
        case clientCharacteristicConfiguration(service: Int, characteristic: Int)
        /// The descriptor that holds the extended properties.
        case extendedProperties(service: Int, characteristic: Int)
        /// A descriptor of the description.
        case descriptor(service: Int, characteristic: Int, descriptor: Int)

        /// The service that the attribute belongs to.
        public var service: Int {
            switch self {
            case .serviceDeclaration(let service), .characteristicDeclaration(let service, _),
                .characteristicValue(let service, _), .clientCharacteristicConfiguration(let service, _),
                .extendedProperties(let service, _), .descriptor(let service, _, _):
                service
            }
        }
    }

    /// Gives handles to all attributes.
    ///
    /// - Parameters:
    ///   - services: The services, in their order.
    ///   - firstHandle: The handle of the first attribute; not 0.
    /// - Throws: ``AttributeTableError`` when the handles are used up.
    public init(
        services: [ServiceDescription],
        firstHandle: AttributeHandle = 0x0001
    ) throws(AttributeTableError) {
        self.services = services
        var attributes: [Attribute] = []
        for (service, description) in services.enumerated() {
            var kinds: [(BluetoothUUID, Kind)] = [
                (
                    description.isPrimary ? .primaryService : .secondaryService,
                    .serviceDeclaration(service: service)
                )
            ]
            for (characteristic, content) in description.characteristics.enumerated() {
                kinds += Self.attributes(of: content, service: service, characteristic: characteristic)
            }
            let next = Int(firstHandle.rawValue) + attributes.count
            guard firstHandle.rawValue > 0, next + kinds.count - 1 <= 0xFFFF else {
                throw AttributeTableError(service: service, uuid: description.uuid)
            }
            for (index, (type, kind)) in kinds.enumerated() {
                let handle = AttributeHandle(rawValue: UInt16(next + index))
                attributes.append(Attribute(handle: handle, type: type, kind: kind))
            }
        }
        self.attributes = attributes
    }

    private static func attributes(
        of description: CharacteristicDescription,
        service: Int,
        characteristic: Int
    ) -> [(BluetoothUUID, Kind)] {
        var kinds: [(BluetoothUUID, Kind)] = [
            (.characteristic, .characteristicDeclaration(service: service, characteristic: characteristic)),
            (description.uuid, .characteristicValue(service: service, characteristic: characteristic)),
        ]
        if description.properties.allowsSubscription {
            kinds.append(
                (
                    .clientCharacteristicConfiguration,
                    .clientCharacteristicConfiguration(service: service, characteristic: characteristic)
                )
            )
        }
        if description.properties.hasExtendedProperties {
            kinds.append(
                (
                    .characteristicExtendedProperties,
                    .extendedProperties(service: service, characteristic: characteristic)
                )
            )
        }
        for (index, descriptor) in description.descriptors.enumerated() {
            kinds.append(
                (
                    descriptor.uuid,
                    .descriptor(service: service, characteristic: characteristic, descriptor: index)
                )
            )
        }
        return kinds
    }
}

extension AttributeTable {
    /// All handles, or `nil` when there are no attributes.
    public var handles: ClosedRange<AttributeHandle>? {
        guard let first = attributes.first, let last = attributes.last else { return nil }
        return first.handle...last.handle
    }

    /// The attribute with this handle, or `nil` when there is none.
    public subscript(handle: AttributeHandle) -> Attribute? {
        guard let first = attributes.first else { return nil }
        let index = Int(handle.rawValue) - Int(first.handle.rawValue)
        return attributes.indices.contains(index) ? attributes[index] : nil
    }

    /// The description of the characteristic that an attribute belongs to, or `nil` for a service's declaration.
    public func characteristic(of kind: Kind) -> CharacteristicDescription? {
        switch kind {
        case .serviceDeclaration:
            nil
        case .characteristicDeclaration(let service, let characteristic),
            .characteristicValue(let service, let characteristic),
            .clientCharacteristicConfiguration(let service, let characteristic),
            .extendedProperties(let service, let characteristic),
            .descriptor(let service, let characteristic, _):
            services[service].characteristics[characteristic]
        }
    }

    /// The handle of a characteristic's value, or `nil` when there is no such characteristic.
    public func valueHandle(service: Int, characteristic: Int) -> AttributeHandle? {
        handle(of: .characteristicValue(service: service, characteristic: characteristic))
    }

    /// The handle of a descriptor, or `nil` when there is no such descriptor.
    public func descriptorHandle(service: Int, characteristic: Int, descriptor: Int) -> AttributeHandle? {
        handle(of: .descriptor(service: service, characteristic: characteristic, descriptor: descriptor))
    }

    /// The handles of a service, its declaration first, or `nil` when there is no such service.
    public func handles(ofService service: Int) -> ClosedRange<AttributeHandle>? {
        let members = attributes.filter { $0.kind.service == service }
        guard let first = members.first, let last = members.last else { return nil }
        return first.handle...last.handle
    }

    private func handle(of kind: Kind) -> AttributeHandle? {
        attributes.first { $0.kind == kind }?.handle
    }
}

/// There are more attributes than handles.
public struct AttributeTableError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The first service that finds no room, counted from 0.
    public let service: Int
    /// The type of that service.
    public let uuid: BluetoothUUID

    /// What happened.
    public var description: String {
        "service \(uuid) (number \(service + 1)) finds no room: there are 65535 handles"
    }
}
