internal import PeripheralCore

/// Examines a declaration and collects its issues.
struct DeclarationValidation {
    var issues: [DeclarationIssue] = []
    private var declared: [CharacteristicIdentity: Place] = [:]

    /// The position of a characteristic in the peripheral, counted from 1.
    private struct Place {
        var service: Int
        var characteristic: Int
    }

    init(of peripheral: Peripheral) {
        examineName(of: peripheral)
        if !(0...512).contains(peripheral.reservedHandles) {
            error(
                "peripheral",
                "it reserves \(peripheral.reservedHandles) handles for added services",
                "reserve 0 to 512 handles"
            )
        }
        if peripheral.onRestore != nil, peripheral.restorationIdentifier == nil {
            warning(
                "peripheral",
                "onRestore is never called without a restoration identifier",
                "declare the restorationIdentifier of the Peripheral"
            )
        }
        examineServices(of: peripheral)
        issues += peripheral.restorationIssues
        examinePairing(of: peripheral)
        examineListeners(of: peripheral)
        examineSecurity(of: peripheral)
        examinePersistence(of: peripheral)
        examineTable(of: peripheral)
        examine(peripheral.resolvedAdvertisements, of: peripheral)
    }

    /// Examines only the services, which a program can change during a run.
    init(ofServicesOf peripheral: Peripheral) {
        examineServices(of: peripheral)
        examineSecurity(of: peripheral)
        examinePersistence(of: peripheral)
    }

    init() {}

    private mutating func examineServices(of peripheral: Peripheral) {
        let formats = PresentationFormatIndex(of: peripheral.services)
        examineEquals(among: peripheral.services)
        for (index, service) in peripheral.services.enumerated() {
            examine(service)
            examineEquals(amongCharacteristicsOf: service)
            examineIncludes(of: service, at: index, of: peripheral)
            for (position, characteristic) in service.characteristics.enumerated() {
                examine(
                    characteristic,
                    in: service,
                    at: Place(service: index + 1, characteristic: position + 1)
                )
                examineFormats(of: characteristic, at: position, service: index, of: peripheral, formats)
            }
        }
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
        examineRange(of: service, element)
        if service.characteristics.isEmpty, service.includes.isEmpty {
            warning(
                element,
                "it has no characteristics, so centrals cannot do anything with it",
                "add a Characteristic, or leave out the service"
            )
        }
    }

    /// Refuses malformed UUIDs, types that belong to the stack, and UUIDs that do not identify a type of
    /// element.
    mutating func examineType(_ uuid: BluetoothUUID, of element: String) {
        examineForm(of: uuid, element)
        switch uuid.assignedNumber {
        case 0x1800, 0x1801:
            error(
                element,
                "the Generic Access and Generic Attribute services belong to the Bluetooth stack",
                "leave them out: the stack publishes them"
            )
        case .some(0x2800...0x2803):
            error(element, "this UUID denotes a declaration", "use the UUID of the element's own type")
        default:
            break
        }
    }

    mutating func examineForm(of uuid: BluetoothUUID, _ element: String) {
        guard let literal = uuid.malformedLiteral else { return }
        if literal.hasPrefix("0x") {
            error(
                element,
                "the number \(literal) has \(literal.count - 2) hexadecimal digits, so it is neither a UUID of 16 bits "
                    + "nor one of 32 bits",
                "write at most 4 hexadecimal digits for a UUID of 16 bits, or 8 in quotes for one of 32 bits"
            )
        } else {
            error(
                element,
                "\(literal) does not have the form of a UUID",
                "write 4 or 8 hexadecimal digits, or 32 in groups of 8, 4, 4, 4 and 12 with hyphens"
            )
        }
    }

    private mutating func examine(
        _ characteristic: CharacteristicDeclaration,
        in service: GATTService,
        at place: Place
    ) {
        let element = characteristic.name(in: service)
        if let first = declared.updateValue(place, forKey: characteristic.identity) {
            let places =
                first.service == place.service
                ? "characteristics \(first.characteristic) and \(place.characteristic) of the service"
                : "characteristic \(first.characteristic) of service \(first.service) of the peripheral and "
                    + "characteristic \(place.characteristic) of service \(place.service)"
            error(
                element,
                "\(places) are the same Characteristic",
                "create a separate Characteristic for each place"
            )
        }
        examineType(characteristic.uuid, of: element)
        examineRange(of: characteristic, in: service, element)
        examineProperties(of: characteristic, element)
        examineControlPoint(of: characteristic, element)
        examineValues(of: characteristic.access, element)
        examineLength(of: characteristic, element)
        examineUpdates(of: characteristic, element)
        examineAuthorization(of: characteristic, element)
        examineDescriptors(of: characteristic, element)
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
                "replace the value with Read { … }, or leave out the property"
            )
        } else if writable, access.writeTargets.isEmpty {
            error(
                element,
                "it is writable but nothing takes the value",
                "add Write { … }, WriteStream() or ControlPoint { … }"
            )
        }
        if !writable, !access.writeTargets.isEmpty {
            error(
                element,
                "it takes writes but is not writable",
                "add the property .write or .writeWithoutResponse"
            )
        }
        // A program cannot refuse a write to a stream. A specification prescribes the properties of a
        // characteristic with an assigned UUID.
        let isOwn = characteristic.uuid.assignedNumber == nil
        let isStream = access.writeTargets.contains(where: \.isStream)
        if properties.contains([.write, .writeWithoutResponse]), isOwn, !isStream {
            warning(
                element,
                "a refused write can go unnoticed: centrals can write with or without response",
                "declare two characteristics if centrals must learn of errors"
            )
        }
    }

    private mutating func examineControlPoint(of characteristic: CharacteristicDeclaration, _ element: String)
    {
        guard case .controlPoint(_, let responds) = characteristic.access.writeTargets.first else { return }
        let ways = characteristic.properties.intersection([.write, .writeWithoutResponse])
        if ways != .write {
            error(
                element,
                "a control point answers each request",
                "give it the property .write, and not .writeWithoutResponse"
            )
        }
        let responses = characteristic.properties.intersection([.notify, .indicate])
        if !responds, !responses.isEmpty {
            error(
                element,
                "a control point without responses sends nothing",
                "leave out the properties .notify and .indicate"
            )
        } else if responds, responses.rawValue.nonzeroBitCount != 1 {
            error(
                element,
                "a control point sends its responses in only one way",
                "give it the property .indicate or .notify, but not both"
            )
        }
    }

    mutating func examineValues(of access: AttributeAccess, _ element: String) {
        if access.readSources.count > 1 {
            error(element, "its value comes from more than one place", "keep one Read or the value")
        }
        if access.writeTargets.count > 1 {
            error(element, "its writes go to more than one place", "keep one Write or WriteStream")
        }
        for case .value(let value) in access.readSources where value.count > maximumValueLength {
            error(
                element,
                "its value has \(value.count) bytes",
                Self.remedyForLongValue
            )
        }
    }

    private static let remedyForLongValue =
        "split the value: an attribute holds at most \(maximumValueLength) bytes"

    private mutating func examineLength(of characteristic: CharacteristicDeclaration, _ element: String) {
        let length = characteristic.length
        guard length.isPossible else {
            error(
                element,
                "its declared length is \(length)",
                "declare a length within 0 to \(maximumValueLength) bytes"
            )
            return
        }
        for value in characteristic.persistentValues where !length.allows(value.initial.count) {
            guard value.initial.count <= maximumValueLength else {
                error(
                    element,
                    "its initial value has \(value.initial.count) bytes",
                    Self.remedyForLongValue
                )
                continue
            }
            error(
                element,
                "its initial value has \(value.initial.count) bytes, but must have \(length)",
                "change the value, or the length"
            )
        }
        for case .value(let value) in characteristic.access.readSources
        where value.count <= maximumValueLength && !length.allows(value.count) {
            error(
                element,
                "its value has \(value.count) bytes, but must have \(length)",
                "change the value, or the length"
            )
        }
    }

    private mutating func examineUpdates(of characteristic: CharacteristicDeclaration, _ element: String) {
        guard characteristic.updates.isPossible else {
            return error(
                element,
                "its UpdatePolicy has no room for any update",
                "give it room for at least 1 value and 1 byte"
            )
        }
        guard characteristic.properties.isDisjoint(with: [.notify, .indicate]) else { return }
        if characteristic.updates != .reject {
            error(
                element,
                "it has an UpdatePolicy but sends no updates",
                "add the property .notify or .indicate, or leave out the UpdatePolicy"
            )
        }
    }

    private mutating func examineAuthorization(
        of characteristic: CharacteristicDeclaration,
        _ element: String
    ) {
        let handlers = characteristic.access.authorizationHandlers
        if handlers.count > 1 {
            error(element, "it has more than one authorization", "keep one Authorization")
        }
        if !handlers.isEmpty, !characteristic.properties.contains(.read), !characteristic.properties.canWrite
        {
            error(
                element,
                "its Authorization applies to reads and writes, but it allows neither",
                "leave out the Authorization, or require security of the link for subscribers"
            )
        }
    }

    private mutating func examinePersistence(of peripheral: Peripheral) {
        for service in peripheral.services {
            for characteristic in service.characteristics {
                let element = characteristic.name(in: service)
                if characteristic.persistentValues.count > 1 {
                    error(element, "it has more than one persistent value", "keep one PersistentValue")
                }
                if characteristic.updates.durableLimit != nil, peripheral.pairing.method == .none {
                    warning(
                        element,
                        "its durable updates are preserved for bonded centrals, but no central can pair",
                        "let centrals pair with Peripheral(…, pairing: …), or declare another UpdatePolicy"
                    )
                }
                guard peripheral.restorationIdentifier == nil else { continue }
                if characteristic.updates.durableLimit != nil {
                    warning(
                        element,
                        "its updates are not preserved without a restoration identifier",
                        "declare the restorationIdentifier of the Peripheral"
                    )
                }
                if characteristic.persistentValue != nil {
                    warning(
                        element,
                        "its value is lost when the run ends, without a restoration identifier",
                        "declare the restorationIdentifier of the Peripheral"
                    )
                }
            }
        }
    }

    private mutating func examineTable(of peripheral: Peripheral) {
        do {
            _ = try AttributeTable(services: peripheral.serviceDescriptions)
        } catch {
            issues.append(DeclarationIssue(error))
        }
    }
}

extension CharacteristicProperties {
    fileprivate static let anyWrite: CharacteristicProperties = [
        .write, .writeWithoutResponse, .authenticatedSignedWrites, .reliableWrite,
    ]
    fileprivate static let usable: CharacteristicProperties = [
        .read, .notify, .indicate, .broadcast, .anyWrite,
    ]
}

// MARK: - Services

extension DeclarationValidation {
    /// Finds includes that the table cannot hold, and secondary services that no service includes.
    mutating func examineIncludes(of service: GATTService, at index: Int, of peripheral: Peripheral) {
        let element = "service \(service.uuid)"
        var included: Set<DeclarationIdentity> = []
        for other in service.includes {
            let position = peripheral.services.firstIndex { $0.identity == other.identity }
            if !included.insert(other.identity).inserted {
                error(element, "it includes service \(other.uuid) twice", "include it once")
            } else if position == nil {
                error(
                    element,
                    "it includes service \(other.uuid), which is not part of the peripheral",
                    "declare that service before this one, using the same constant"
                )
            } else if let position, position >= index {
                error(
                    element,
                    "it includes service \(other.uuid), which is not declared before it",
                    "declare that service before this one"
                )
            }
        }
        let isIncluded = peripheral.services.contains { other in
            other.includes.contains { $0.identity == service.identity }
        }
        if !service.isPrimary, !isIncluded {
            warning(
                element,
                "centrals cannot find it: it is secondary, and no service includes it",
                "name it in the includes of another service, or make it primary"
            )
        }
    }
}
