extension AttributeTable {
    /// Returns the value of an attribute if the value depends only on the declared services.
    ///
    /// The method returns the value of a service declaration, an include declaration, a characteristic
    /// declaration or a Characteristic Extended Properties descriptor. A central reads exactly the returned
    /// bytes (Core Specification Vol 3, Part G, 3.1 through 3.3.3.1).
    ///
    /// - Returns: The value of the attribute. The result is `nil` if the value depends on other data, or if
    ///   the handle is unused.
    public func fixedValue(of handle: AttributeHandle) -> [UInt8]? {
        switch self[handle]?.kind {
        case .serviceDeclaration(let service):
            services[service].uuid.attBytes
        case .include(let service, let include):
            includeValue(of: services[service].includedServices[include])
        case .characteristicDeclaration(let service, let characteristic):
            declarationValue(service: service, characteristic: characteristic)
        case .extendedProperties(let service, let characteristic):
            services[service].characteristics[characteristic].properties.extended.gattBytes
        case .characteristicValue, .clientCharacteristicConfiguration, .descriptor, nil:
            nil
        }
    }

    private func includeValue(of included: Int) -> [UInt8] {
        let range = serviceRange(included)
        let uuid = services[included].uuid.attBytes
        // Only a 16-bit UUID is included here. A central reads a longer UUID from the declaration of the
        // service.
        return range.lowerBound.rawValue.gattBytes + range.upperBound.rawValue.gattBytes
            + (uuid.count == 2 ? uuid : [])
    }

    private func declarationValue(service: Int, characteristic: Int) -> [UInt8] {
        let description = services[service].characteristics[characteristic]
        return [description.properties.declarationByte]
            + valueHandle(service: service, characteristic: characteristic).rawValue.gattBytes
            + description.uuid.attBytes
    }
}
