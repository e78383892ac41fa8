internal import PeripheralCore

extension Peripheral {
    /// What to publish.
    ///
    /// - Throws: ``DeclarationError`` when the declaration has errors.
    func publication() throws(DeclarationError) -> Publication {
        let errors = validate().filter { $0.severity == .error }
        guard errors.isEmpty else { throw DeclarationError(issues: errors) }
        do {
            return Publication(
                name: name,
                table: try AttributeTable(services: services.map(\.tableDescription)),
                advertisement: resolvedAdvertisement,
                pairing: pairing.method
            )
        } catch {
            throw DeclarationError(issues: [
                DeclarationIssue(
                    severity: .error,
                    element: "peripheral",
                    reason: "\(error)",
                    remedy: "declare fewer services, characteristics or descriptors"
                )
            ])
        }
    }

    /// The advertisement with what it leaves open filled in from the declaration.
    ///
    /// Of the services, those come in that fit, in their order: an advertisement that nobody wrote must not be
    /// able to fail.
    var resolvedAdvertisement: Advertisement {
        var advertisement = advertisements.first ?? Advertisement()
        advertisement.localName = advertisement.localName ?? name
        guard advertisement.services == nil else { return advertisement }
        advertisement.services = []
        var advertised: Set<BluetoothUUID> = []
        for service in services where advertised.insert(service.uuid).inserted {
            var larger = advertisement
            larger.services?.append(service.uuid)
            if (try? larger.payload.encoded()) != nil {
                advertisement = larger
            }
        }
        return advertisement
    }
}

extension GATTService {
    var tableDescription: ServiceDescription {
        ServiceDescription(
            uuid: uuid,
            characteristics: characteristics.map { characteristic in
                CharacteristicDescription(
                    uuid: characteristic.uuid,
                    properties: characteristic.properties,
                    security: characteristic.security,
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
