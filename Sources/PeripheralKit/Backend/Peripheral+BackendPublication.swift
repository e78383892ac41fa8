internal import PeripheralCore

extension Peripheral {
    /// Creates the publication of the peripheral from its declaration.
    ///
    /// - Throws: ``DeclarationError`` if the declaration has errors.
    func publication() throws(DeclarationError) -> BackendPublication {
        let errors = validate().filter { $0.severity == .error }
        guard errors.isEmpty else { throw DeclarationError(issues: errors) }
        do {
            return BackendPublication(
                name: name,
                table: try AttributeTable(services: serviceDescriptions),
                advertisements: resolvedAdvertisements,
                pairing: pairing.method
            )
        } catch {
            throw DeclarationError(issues: [DeclarationIssue(error)])
        }
    }

    /// The services for an attribute table, without impossible includes.
    var serviceDescriptions: [ServiceDescription] {
        var positions: [DeclarationIdentity: Int] = [:]
        return services.enumerated().map { index, service in
            defer { positions[service.identity] = index }
            return service.tableDescription(includes: service.includes.compactMap { positions[$0.identity] })
        }
    }
}

extension GATTService {
    fileprivate func tableDescription(includes: [Int]) -> ServiceDescription {
        ServiceDescription(
            uuid: uuid,
            isPrimary: isPrimary,
            includedServices: includes,
            handle: handle,
            characteristics: characteristics.map { characteristic in
                CharacteristicDescription(
                    uuid: characteristic.uuid,
                    properties: characteristic.properties,
                    security: characteristic.security,
                    requiresAuthorization: !characteristic.access.authorizationHandlers.isEmpty,
                    descriptors: characteristic.descriptors.map { descriptor in
                        DescriptorDescription(
                            uuid: descriptor.uuid,
                            permissions: descriptor.permissions,
                            security: descriptor.security
                        )
                    }
                )
            }
        )
    }
}

extension DeclarationIssue {
    /// Describes why an attribute table is not possible.
    init(_ error: AttributeTableError) {
        let remedy =
            switch error.code {
            case .handleCollision: "pin the service elsewhere, or let the Bluetooth stack choose"
            case .reservedHandle: "pin the service to 0x0001 or above, or let the Bluetooth stack choose"
            default: "declare fewer services, characteristics or descriptors, or pin none so high"
            }
        self.init(severity: .error, element: "peripheral", reason: error.message, remedy: remedy)
    }
}
