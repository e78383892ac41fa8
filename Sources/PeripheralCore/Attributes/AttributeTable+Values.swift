extension AttributeTable {
    /// The value of an attribute that the declaration alone determines.
    ///
    /// Declarations of services, includes and characteristics, and Characteristic Extended Properties, as a
    /// read of them is answered (Core Specification Vol 3, Part G, 3.1 through 3.3.3.1).
    ///
    /// - Returns: `nil` for an attribute whose value lives elsewhere, and for a handle that is not in use.
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
        // Only a 16-bit UUID is told; a longer one is read from the service's declaration.
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
