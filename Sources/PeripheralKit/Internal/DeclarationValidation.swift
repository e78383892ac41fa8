internal import PeripheralCore

/// Examines a declaration, element by element.
struct DeclarationValidation {
    private(set) var issues: [DeclarationIssue] = []
    private var declared: [CharacteristicIdentity: String] = [:]

    init(of peripheral: Peripheral) {
        examineName(of: peripheral)
        if peripheral.services.isEmpty {
            error("peripheral", "it has no services", "declare at least one GATTService")
        }
        for service in peripheral.services {
            examine(service)
        }
        examineSecurity(of: peripheral)
        examineTable(of: peripheral)
        examineAdvertisement(of: peripheral)
    }

    mutating func error(_ element: String, _ reason: String, _ remedy: String) {
        issues.append(
            DeclarationIssue(severity: .error, element: element, reason: reason, remedy: remedy)
        )
    }

    mutating func warning(_ element: String, _ reason: String, _ remedy: String) {
        issues.append(
            DeclarationIssue(severity: .warning, element: element, reason: reason, remedy: remedy)
        )
    }

    private mutating func examineName(of peripheral: Peripheral) {
        let length = peripheral.name.utf8.count
        if !(1...248).contains(length) {
            error("name of the peripheral", "it has \(length) bytes", "use 1 to 248 bytes of UTF-8")
        }
    }

    private mutating func examine(_ service: GATTService) {
        let element = "service \(service.uuid)"
        examineType(service.uuid, of: element)
        for characteristic in service.characteristics {
            examine(characteristic, in: element)
        }
    }

    /// Refuses the types that belong to the stack, or that are no type of a service, characteristic or
    /// descriptor at all.
    private mutating func examineType(_ uuid: BluetoothUUID, of element: String) {
        switch uuid.assignedNumber {
        case 0x1800, 0x1801:
            error(
                element,
                "the Generic Access and Generic Attribute services are the Bluetooth stack's own",
                "leave them out: the stack publishes them"
            )
        case .some(0x2800...0x2803):
            error(element, "this UUID denotes a declaration", "use the UUID of the element's own type")
        default:
            break
        }
    }

    private mutating func examine(_ characteristic: CharacteristicDeclaration, in service: String) {
        let element = "characteristic \(characteristic.uuid) of \(service)"
        if let first = declared.updateValue(element, forKey: characteristic.identity) {
            error(
                element,
                "the same characteristic stands in the declaration before, as \(first)",
                "make a Characteristic of its own for each place"
            )
        }
        examineType(characteristic.uuid, of: element)
        examineProperties(of: characteristic, element)
        examineValues(of: characteristic.access, element)
        for descriptor in characteristic.descriptors {
            examine(descriptor, of: element)
        }
        var types: Set<BluetoothUUID> = []
        for descriptor in characteristic.descriptors where !types.insert(descriptor.uuid).inserted {
            error(
                "descriptor \(descriptor.uuid) of \(element)",
                "it is declared more than once",
                "declare each type of descriptor once for a characteristic"
            )
        }
    }

    private mutating func examineProperties(of characteristic: CharacteristicDeclaration, _ element: String) {
        let properties = characteristic.properties
        let access = characteristic.access
        let writable = !properties.isDisjoint(with: .anyWrite)
        if properties.isDisjoint(with: .usable) {
            error(element, "no central can use it", "give it a property such as .read, .write or .notify")
        }
        if properties.contains(.read), access.readSources.isEmpty {
            error(element, "it is readable but has no value", "add Read { … } or a value")
        }
        if !properties.contains(.read), !access.readSources.isEmpty {
            error(element, "it has a value to read but is not readable", "add the property .read")
        }
        if writable, access.isStatic {
            error(
                element,
                "it is writable but has a value that never changes",
                "replace the value by Read { … }, or leave out the property"
            )
        } else if writable, access.writeHandlers.isEmpty {
            error(element, "it is writable but nothing takes the value", "add Write { … }")
        }
        if !writable, !access.writeHandlers.isEmpty {
            error(
                element,
                "it has a handler of writes but is not writable",
                "add the property .write or .writeWithoutResponse"
            )
        }
        if properties.contains([.write, .writeWithoutResponse]) {
            warning(
                element,
                "a refused write may go unnoticed: centrals may write with and without response",
                "declare two characteristics where centrals must learn of errors"
            )
        }
    }

    private mutating func examineValues(of access: AttributeAccess, _ element: String) {
        if access.readSources.count > 1 {
            error(element, "its value comes from more than one place", "keep one Read or the value")
        }
        if access.writeHandlers.count > 1 {
            error(element, "it has more than one handler of writes", "keep one Write")
        }
        for case .value(let value) in access.readSources where value.count > maximumValueLength {
            error(
                element,
                "its value has \(value.count) bytes",
                "an attribute holds at most \(maximumValueLength): divide the value"
            )
        }
    }

    private mutating func examine(_ descriptor: DescriptorDeclaration, of characteristic: String) {
        let element = "descriptor \(descriptor.uuid) of \(characteristic)"
        examineType(descriptor.uuid, of: element)
        switch descriptor.uuid.assignedNumber {
        case 0x2900, 0x2902, 0x2903:
            error(
                element,
                "this descriptor is the Bluetooth stack's own",
                "leave it out: the stack adds it as the properties demand"
            )
        default:
            break
        }
        if descriptor.permissions.isEmpty {
            error(element, "it can neither be read nor written", "add Read { … }, Write { … } or a value")
        }
        examineValues(of: descriptor.access, element)
    }

    private mutating func examineTable(of peripheral: Peripheral) {
        do {
            _ = try AttributeTable(services: peripheral.services.map(\.tableDescription))
        } catch {
            self.error("peripheral", "\(error)", "declare fewer services, characteristics or descriptors")
        }
    }

    private mutating func examineAdvertisement(of peripheral: Peripheral) {
        if peripheral.advertisements.count > 1 {
            error("peripheral", "it has more than one advertisement", "keep one Advertisement")
        }
        do {
            _ = try peripheral.resolvedAdvertisement.payload.encoded()
        } catch {
            self.error("advertisement", "\(error)", "leave something out, or shorten it")
        }
    }
}

/// The most bytes that an attribute's value can have (Core Specification, Vol 3, Part F, 3.2.9).
let maximumValueLength = 512

extension CharacteristicProperties {
    fileprivate static let anyWrite: CharacteristicProperties = [
        .write, .writeWithoutResponse, .authenticatedSignedWrites, .reliableWrite,
    ]
    fileprivate static let usable: CharacteristicProperties = [
        .read, .notify, .indicate, .broadcast, .anyWrite,
    ]
}
