package import PeripheralCore

/// The names of declared elements in issues and messages.
package enum ElementName {
    /// The maximum number of bytes of a user description in a name.
    private static let maximumLength = 40

    /// Returns the name of a characteristic, such as `characteristic 2a6e "Outside" of service 181a`.
    ///
    /// The quotation is the beginning of the constant user description, which a developer recognizes sooner
    /// than a UUID.
    package static func characteristic(
        _ uuid: BluetoothUUID,
        _ userDescription: String?,
        of service: BluetoothUUID? = nil
    ) -> String {
        var name = "characteristic \(uuid)"
        if let userDescription {
            let beginning = userDescription.longestPrefix(ofUTF8ByteCount: maximumLength)
            name += " \"\(beginning)\(beginning.endIndex < userDescription.endIndex ? "…" : "")\""
        }
        if let service { name += " of service \(service)" }
        return name
    }
}

extension CharacteristicDeclaration {
    /// The name of the characteristic in messages, such as `characteristic 2a6e "Outside"`.
    var name: String { ElementName.characteristic(uuid, userDescription) }

    /// The name of the characteristic in issues, such as `characteristic 2a6e "Outside" of service 181a`.
    func name(in service: GATTService) -> String {
        ElementName.characteristic(uuid, userDescription, of: service.uuid)
    }

    /// The constant user description; `nil` if there is none.
    fileprivate var userDescription: String? {
        let description = descriptors.first { $0.uuid == .characteristicUserDescription }
        guard case .value(let bytes) = description?.access.readSources.first else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension AttributeTable {
    /// Returns the constant user descriptions, by the value handles of their characteristics.
    ///
    /// - Parameter services: The services of this table.
    /// - Returns: The descriptions.
    func userDescriptions(of services: [GATTService]) -> [AttributeHandle: String] {
        var descriptions: [AttributeHandle: String] = [:]
        for (index, service) in services.enumerated() {
            for (position, characteristic) in service.characteristics.enumerated() {
                let handle = valueHandle(service: index, characteristic: position)
                descriptions[handle] = characteristic.userDescription
            }
        }
        return descriptions
    }
}

extension PreservedDatabase {
    /// Returns the name of a characteristic in issues.
    ///
    /// - Parameters:
    ///   - characteristic: The characteristic.
    ///   - kind: One of its attributes.
    /// - Returns: The name.
    func name(of characteristic: CharacteristicDescription, at kind: AttributeTable.Kind) -> String {
        let service = table.services[kind.service]
        let description = table.attributes.first { attribute in
            attribute.type == .characteristicUserDescription
                && attribute.kind.service == kind.service
                && attribute.kind.characteristic == kind.characteristic
        }
        let bytes = description.flatMap { staticValues[$0.handle] }
        return ElementName.characteristic(
            characteristic.uuid,
            bytes.map { String(decoding: $0, as: UTF8.self) },
            of: service.uuid
        )
    }
}
