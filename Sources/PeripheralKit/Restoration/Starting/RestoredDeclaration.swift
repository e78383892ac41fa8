internal import PeripheralCore

/// The position of a characteristic in a preserved peripheral.
struct PreservedPlace: Hashable, Sendable {
    /// The restoration identifier.
    var identifier: String
    /// The value handle in the table of the database.
    var handle: AttributeHandle
}

/// The declaration of a preserved peripheral: its earlier services, and the issues of services that cannot be
/// restored.
struct RestoredDeclaration {
    private(set) var services: [GATTService] = []
    private(set) var issues: [DeclarationIssue] = []
    private let preserved: PreservedPeripheral
    private var given: [AttributeHandle: CharacteristicDeclaration] = [:]

    /// - Parameters:
    ///   - preserved: The preserved peripheral.
    ///   - characteristics: The characteristics with handlers, each of which replaces an earlier
    ///     characteristic.
    init(of preserved: PreservedPeripheral, with characteristics: [CharacteristicDeclaration]) {
        self.preserved = preserved
        for characteristic in characteristics { place(characteristic) }
        let table = preserved.state.database.table
        for (index, service) in table.services.enumerated() {
            let elements = table.attributes(ofService: index).compactMap { restored($0) }
            let includes = service.includedServices.map { services[$0] }
            // A function, because a result builder would transform a closure.
            func content() -> [ServiceElement] { elements.map(ServiceElement.init) }
            services.append(
                GATTService(
                    service.uuid,
                    isPrimary: service.isPrimary,
                    includes: includes,
                    handle: service.handle,
                    content
                )
            )
        }
    }

    private mutating func place(_ characteristic: CharacteristicDeclaration) {
        guard let place = characteristic.place, place.identifier == preserved.identifier,
            let kind = preserved.state.database.table[place.handle]?.kind,
            let former = preserved.state.database.table.characteristic(of: kind),
            // The characteristic may have been created from an older preserved state.
            former.uuid == characteristic.uuid, former.properties == characteristic.properties,
            former.security == characteristic.security
        else {
            return error(
                characteristic.name,
                "it was not made from this preserved peripheral, which has no such characteristic",
                "make it with the function characteristic of the same PreservedPeripheral"
            )
        }
        guard given.updateValue(characteristic, forKey: place.handle) == nil else {
            return error(
                name(of: kind, former),
                "it is given twice",
                "choose one of several characteristics with ofService: or occurrence:"
            )
        }
    }

    private mutating func restored(_ attribute: AttributeTable.Attribute) -> CharacteristicDeclaration? {
        guard let former = preserved.state.database.table.characteristic(of: attribute.kind),
            case .characteristicValue = attribute.kind,
            var declaration = given[attribute.handle]
                ?? preserved.declaration(of: attribute, preserved.kept(attribute.handle))
        else { return nil }
        if former.requiresAuthorization, declaration.access.authorizationHandlers.isEmpty {
            declaration.access.authorizationHandlers = [{ _ in false }]
            error(
                name(of: attribute.kind, former),
                "it had an Authorization that decided which centrals may use it, and now it has none",
                "make it with the function characteristic of the PreservedPeripheral and an Authorization { … }"
            )
        }
        examineDescriptors(of: declaration, formerly: former, name(of: attribute.kind, former))
        return declaration
    }

    private mutating func examineDescriptors(
        of declaration: CharacteristicDeclaration,
        formerly former: CharacteristicDescription,
        _ parent: String
    ) {
        var added = declaration.descriptors
        for descriptor in former.descriptors {
            let element = "descriptor \(descriptor.uuid) of \(parent)"
            let remedy =
                "give it its earlier handlers with the function characteristic of the PreservedPeripheral"
            guard let place = added.firstIndex(where: { $0.uuid == descriptor.uuid }) else {
                error(element, "it is not constant and has no handler for its value", remedy)
                continue
            }
            if added.remove(at: place).permissions != descriptor.permissions {
                error(element, "its permissions to be read and written have changed", remedy)
            }
        }
        for descriptor in added {
            error("descriptor \(descriptor.uuid) of \(parent)", "it did not exist before", "leave it out")
        }
    }

    private func name(of kind: AttributeTable.Kind, _ characteristic: CharacteristicDescription) -> String {
        preserved.state.database.name(of: characteristic, at: kind)
    }

    private mutating func error(_ element: String, _ reason: String, _ remedy: String) {
        issues.append(DeclarationIssue(severity: .error, element: element, reason: reason, remedy: remedy))
    }
}

extension PreservedPeripheral {
    /// The preserved value of a characteristic without a handler.
    fileprivate func kept(_ handle: AttributeHandle) -> [CharacteristicPart] {
        guard let value = state.values[handle] else { return [] }
        let kept = PersistentValue<[UInt8]>(initially: value, writes: options(of: handle).writes)
        return [.persistent(kept.declaration)]
    }

    private func options(of handle: AttributeHandle) -> PreservedOptions {
        state.options[handle] ?? PreservedOptions()
    }

    /// Creates a preserved characteristic from these parts and the constant parts.
    func declaration(
        of attribute: AttributeTable.Attribute,
        _ parts: [CharacteristicPart]
    ) -> CharacteristicDeclaration? {
        guard case .characteristicValue(let service, let index) = attribute.kind else { return nil }
        let database = state.database
        let description = database.table.services[service].characteristics[index]
        var given = parts.compactMap { if case .descriptor(let descriptor) = $0 { descriptor } else { nil } }
        var descriptors: [DescriptorDeclaration] = []
        for (position, former) in description.descriptors.enumerated() {
            let handle = database.table.descriptorHandle(
                service: service,
                characteristic: index,
                descriptor: position
            )
            if let place = given.firstIndex(where: { $0.uuid == former.uuid }) {
                var descriptor = given.remove(at: place)
                descriptor.security = former.security
                descriptors.append(descriptor)
            } else if let source = source(of: handle, former, beside: description.descriptors) {
                var descriptor = DescriptorDeclaration(
                    uuid: former.uuid,
                    security: former.security,
                    access: AttributeAccess(readSources: [source])
                )
                if let identity = formatIdentities[handle] { descriptor.identity = identity }
                descriptors.append(descriptor)
            }
        }
        // The validation reports descriptors that did not exist before.
        descriptors += given
        let constant = database.staticValues[attribute.handle].map { [CharacteristicPart.read(.value($0))] }
        let handlers = parts.compactMap { handler($0, of: attribute.handle) }
        var declaration = CharacteristicDeclaration(
            uuid: description.uuid,
            properties: description.properties,
            security: description.security,
            length: options(of: attribute.handle).length,
            updates: options(of: attribute.handle).updates,
            parts: (constant ?? []) + handlers + descriptors.map { .descriptor($0) }
        )
        declaration.place = PreservedPlace(identifier: identifier, handle: attribute.handle)
        return declaration
    }

    /// Returns a part that is not a descriptor.
    ///
    /// A persistent value is at least as durable as before.
    private func handler(_ part: CharacteristicPart, of handle: AttributeHandle) -> CharacteristicPart? {
        switch part {
        case .descriptor:
            return nil
        case .persistent(var value):
            value.isDurable = value.isDurable || options(of: handle).writes == .durable
            return .persistent(value)
        default:
            return part
        }
    }

    /// Returns the source of the value of a descriptor without a handler.
    private func source(
        of handle: AttributeHandle,
        _ descriptor: DescriptorDescription,
        beside siblings: [DescriptorDescription]
    ) -> ReadSource? {
        if let value = state.database.staticValues[handle] { return .value(value) }
        guard descriptor.uuid == .characteristicAggregateFormat else { return nil }
        if let formats = state.formats[handle] {
            return .handles(.named(formats.compactMap { formatIdentities[$0] }))
        }
        // Version 1.1 did not preserve which formats are named. Usually, all formats are named.
        let count = siblings.count { $0.uuid == .characteristicPresentationFormat }
        return count > 1 ? .handles(.ofCharacteristic) : nil
    }
}
