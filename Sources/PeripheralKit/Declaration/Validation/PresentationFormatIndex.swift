internal import PeripheralCore

/// The positions of presentation formats in a declaration, for the aggregate formats that name them.
struct PresentationFormatIndex {
    /// The indices of a descriptor, its characteristic and its service.
    struct Place: Hashable {
        var service: Int
        var characteristic: Int
        var descriptor: Int
    }

    enum Fault: Error {
        case notDeclared, ambiguous
    }

    private var places: [DeclarationIdentity: [Place]] = [:]
    private let services: [GATTService]

    init(of services: [GATTService]) {
        self.services = services
        for (service, declaration) in services.enumerated() {
            for characteristic in declaration.characteristics.indices {
                for place in formats(ofCharacteristic: characteristic, service: service) {
                    places[self[place].identity, default: []].append(place)
                }
            }
        }
    }

    private subscript(place: Place) -> DescriptorDeclaration {
        services[place.service].characteristics[place.characteristic].descriptors[place.descriptor]
    }

    private func formats(ofCharacteristic characteristic: Int, service: Int) -> [Place] {
        let descriptors = services[service].characteristics[characteristic].descriptors
        return descriptors.indices.filter { descriptors[$0].uuid == .characteristicPresentationFormat }.map {
            Place(service: service, characteristic: characteristic, descriptor: $0)
        }
    }

    /// Returns the presentation formats that an aggregate format names.
    ///
    /// A format in the same characteristic as the aggregate format takes precedence over the formats of other
    /// characteristics.
    func places(
        of parts: AggregateFormat.Parts,
        service: Int,
        characteristic: Int
    ) throws(Fault) -> [Place] {
        let own = formats(ofCharacteristic: characteristic, service: service)
        guard case .named(let identities) = parts else { return own }
        return try identities.map { (identity) throws(Fault) in
            let candidates = places[identity] ?? []
            guard !candidates.isEmpty else { throw .notDeclared }
            let nearest = candidates.filter(own.contains)
            let meant = nearest.isEmpty ? candidates : nearest
            guard meant.count == 1 else { throw .ambiguous }
            return meant[0]
        }
    }
}
