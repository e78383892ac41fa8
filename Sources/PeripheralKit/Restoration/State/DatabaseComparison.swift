internal import PeripheralCore

/// Finds the differences between two databases.
struct DatabaseComparison {
    private(set) var changes = DeclarationChanges()
    private let new: PreservedDatabase
    private let old: PreservedDatabase
    private let match: DatabaseMatch

    /// - Parameters:
    ///   - new: The declaration, with its planned handles on the air.
    ///   - old: The earlier database.
    ///   - match: The elements that both databases have in common.
    init(of new: PreservedDatabase, with old: PreservedDatabase, _ match: DatabaseMatch) {
        self.new = new
        self.old = old
        self.match = match
        for attribute in new.table.services.indices.flatMap(new.table.attributes(ofService:)) {
            examine(attribute)
        }
        findRemoved()
        changes.invalidatesCaches =
            new.hashedAttributes == nil || new.hashedAttributes != old.hashedAttributes
    }

    private mutating func examine(_ attribute: AttributeTable.Attribute) {
        guard let element = new.table.element(attribute.kind) else { return }
        guard let formerHandle = match.former[attribute.handle], let former = old.table[formerHandle] else {
            if isKnown(parentOf: attribute) { changes.added.append(element) }
            return
        }
        if isChanged(attribute, former) { changes.changed.append(element) }
        guard element.descriptor == nil else { return }
        let handle = new.handleOnAir(of: attribute.handle)
        if handle == nil || handle != old.handleOnAir(of: formerHandle) { changes.moved.append(element) }
    }

    /// Whether the element that contains the attribute existed before.
    private func isKnown(parentOf attribute: AttributeTable.Attribute) -> Bool {
        new.table.parent(of: attribute.kind).map { match.former[$0] != nil } ?? true
    }

    private mutating func findRemoved() {
        for attribute in old.table.services.indices.flatMap(old.table.attributes(ofService:)) {
            guard let element = old.table.element(attribute.kind), match.present[attribute.handle] == nil,
                old.table.parent(of: attribute.kind).map({ match.present[$0] != nil }) ?? true
            else { continue }
            changes.removed.append(element)
        }
    }

    private func isChanged(_ attribute: AttributeTable.Attribute, _ former: AttributeTable.Attribute) -> Bool
    {
        if new.staticValues[attribute.handle] != old.staticValues[former.handle] { return true }
        switch (attribute.kind, former.kind) {
        case (.serviceDeclaration(let index), .serviceDeclaration(let formerIndex)):
            let (service, formerService) = (new.table.services[index], old.table.services[formerIndex])
            let includes = service.includedServices.map {
                match.former[new.table.serviceRange($0).lowerBound]
            }
            let formerIncludes = formerService.includedServices.map {
                Optional(old.table.serviceRange($0).lowerBound)
            }
            return service.isPrimary != formerService.isPrimary || includes != formerIncludes
        case (.characteristicValue, .characteristicValue):
            var characteristic = new.table.characteristic(of: attribute.kind)
            var formerCharacteristic = old.table.characteristic(of: former.kind)
            // Descriptors are compared as separate elements.
            characteristic?.descriptors = []
            formerCharacteristic?.descriptors = []
            return characteristic != formerCharacteristic
        case (.descriptor, .descriptor):
            return new.table.descriptor(of: attribute.kind) != old.table.descriptor(of: former.kind)
        default:
            return false
        }
    }
}

extension AttributeTable {
    /// The element that represents an attribute in the changes; `nil` for an attribute that belongs to
    /// another element.
    fileprivate func element(_ kind: Kind) -> DeclarationChanges.Element? {
        let service = services[kind.service].uuid
        switch kind {
        case .serviceDeclaration:
            return DeclarationChanges.Element(service: service)
        case .characteristicValue:
            return DeclarationChanges.Element(
                service: service,
                characteristic: characteristic(of: kind)?.uuid
            )
        case .descriptor:
            return DeclarationChanges.Element(
                service: service,
                characteristic: characteristic(of: kind)?.uuid,
                descriptor: descriptor(of: kind)?.uuid
            )
        case .include, .characteristicDeclaration, .clientCharacteristicConfiguration, .extendedProperties:
            return nil
        }
    }

    /// The handle of the parent of an element; `nil` for a service.
    fileprivate func parent(of kind: Kind) -> AttributeHandle? {
        switch kind {
        case .characteristicValue(let service, _): serviceRange(service).lowerBound
        case .descriptor(let service, let characteristic, _):
            valueHandle(service: service, characteristic: characteristic)
        default: nil
        }
    }

    fileprivate func descriptor(of kind: Kind) -> DescriptorDescription? {
        guard case .descriptor(let service, let characteristic, let descriptor) = kind else { return nil }
        return services[service].characteristics[characteristic].descriptors[descriptor]
    }
}
