internal import PeripheralCore

extension DeclarationValidation {
    mutating func examineDescriptors(of characteristic: CharacteristicDeclaration, _ element: String) {
        for descriptor in characteristic.descriptors {
            examine(descriptor, of: characteristic, element)
        }
        // A value of several parts has one presentation format for each part. A sensor has up to three
        // triggers.
        let repeatable: [BluetoothUUID] = [
            .characteristicPresentationFormat, .environmentalSensingTriggerSetting,
        ]
        var types: Set<BluetoothUUID> = []
        for descriptor in characteristic.descriptors
        where !repeatable.contains(descriptor.uuid) && !types.insert(descriptor.uuid).inserted {
            error(
                "descriptor \(descriptor.uuid) of \(element)",
                "it is declared more than once",
                "declare each descriptor type once in a characteristic"
            )
        }
        let triggers = characteristic.descriptors.count { $0.uuid == .environmentalSensingTriggerSetting }
        if triggers > 3 {
            error(
                element,
                "it has \(triggers) trigger settings, but can have at most 3",
                "remove the least important ones"
            )
        }
        examineDescription(of: characteristic, element)
    }

    private mutating func examine(
        _ descriptor: DescriptorDeclaration,
        of characteristic: CharacteristicDeclaration,
        _ parent: String
    ) {
        let element = "descriptor \(descriptor.uuid) of \(parent)"
        examineType(descriptor.uuid, of: element)
        examineRange(of: descriptor.uuid, as: .descriptor, element)
        if let remedy = descriptor.uuid.remedyForStackDescriptor {
            error(element, "this descriptor belongs to the Bluetooth stack", remedy)
        }
        if descriptor.permissions.isEmpty {
            error(element, "it can neither be read nor written", "add Read { … }, Write { … } or a value")
        } else if descriptor.uuid.isDescriptorForReading, !descriptor.permissions.contains(.read) {
            error(element, "it describes the value, but cannot be read", "add Read { … }")
        }
        if descriptor.uuid.isDescriptorForReading, descriptor.uuid != .characteristicUserDescription,
            descriptor.permissions.contains(.write)
        {
            error(element, "centrals cannot write a descriptor of this type", "leave out Write { … }")
        }
        examineValues(of: descriptor.access, element)
        examineFormat(descriptor, element)
    }

    private mutating func examineFormat(_ descriptor: DescriptorDeclaration, _ element: String) {
        guard descriptor.uuid == .characteristicPresentationFormat,
            case .value(let value) = descriptor.access.readSources.first
        else { return }
        guard value.count == 7 else {
            error(element, "its value has \(value.count) bytes instead of 7", "use PresentationFormat(…)")
            return
        }
        let type = PresentationFormat.FormatType(rawValue: value[0])
        if !type.isAssigned {
            error(
                element,
                "there is no format type with the number \(value[0])",
                "use one of the named types"
            )
        } else if value[1] != 0, !type.isInteger {
            error(element, "it has an exponent, which only integers have", "leave out the exponent")
        }
    }

    /// Checks that the property and the descriptor's permission agree.
    private mutating func examineDescription(of characteristic: CharacteristicDeclaration, _ element: String)
    {
        let description = characteristic.descriptors.first { $0.uuid == .characteristicUserDescription }
        let isWritable = description?.permissions.contains(.write) ?? false
        if characteristic.properties.contains(.writableAuxiliaries), !isWritable {
            error(
                element,
                "it promises a writable user description but has none",
                "add Descriptor<String>(0x2901) { Read { … } Write { … } }, or leave out .writableAuxiliaries"
            )
        }
        if !characteristic.properties.contains(.writableAuxiliaries), isWritable {
            warning(
                "descriptor 2901 of \(element)",
                "centrals do not learn that they can write it",
                "add the property .writableAuxiliaries to the characteristic"
            )
        }
    }

    /// Checks that the presentation formats and the aggregate format of a characteristic match.
    mutating func examineFormats(
        of characteristic: CharacteristicDeclaration,
        at position: Int,
        service: Int,
        of peripheral: Peripheral,
        _ formats: PresentationFormatIndex
    ) {
        let parent = characteristic.name(in: peripheral.services[service])
        let aggregates = characteristic.descriptors.filter { $0.uuid == .characteristicAggregateFormat }
        let count = characteristic.descriptors.count { $0.uuid == .characteristicPresentationFormat }
        if count > 1, aggregates.isEmpty {
            error(
                parent,
                "it has \(count) presentation formats, but no descriptor combines them",
                "add AggregateFormat()"
            )
        }
        for aggregate in aggregates {
            let element = "descriptor \(aggregate.uuid) of \(parent)"
            guard case .handles(let parts) = aggregate.access.readSources.first else {
                error(
                    element,
                    "its value consists of handles on the air, which only the Bluetooth stack knows",
                    "use AggregateFormat()"
                )
                continue
            }
            do {
                let places = try formats.places(of: parts, service: service, characteristic: position)
                if places.count < 2 {
                    error(
                        element,
                        "it consists of fewer than two presentation formats",
                        "declare a PresentationFormat for each part of the value"
                    )
                }
            } catch {
                switch error {
                case .notDeclared:
                    self.error(
                        element,
                        "it names a presentation format that is not part of the peripheral",
                        "put that PresentationFormat in a characteristic, using the same constant"
                    )
                case .ambiguous:
                    self.error(
                        element,
                        "it names a presentation format that is declared more than once",
                        "create a separate PresentationFormat for each place"
                    )
                }
            }
        }
    }
}

extension BluetoothUUID {
    /// The remedy for the declaration of a descriptor that belongs to the stack; `nil` for other descriptors.
    fileprivate var remedyForStackDescriptor: String? {
        switch self {
        case .characteristicExtendedProperties:
            "leave it out: the properties .reliableWrite and .writableAuxiliaries add it"
        case .clientCharacteristicConfiguration:
            "leave it out: the properties .notify and .indicate add it"
        case .serverCharacteristicConfiguration:
            "leave it out: to broadcast data, use the serviceData of the Advertisement"
        default:
            nil
        }
    }

    /// Whether descriptors of this type describe the value and must be readable.
    fileprivate var isDescriptorForReading: Bool {
        [
            .characteristicUserDescription, .characteristicPresentationFormat, .characteristicAggregateFormat,
            .validRange,
        ].contains(self)
    }
}

// MARK: - Security

extension DeclarationValidation {
    /// Finds the attributes that no central can use because the pairing never reaches their security.
    ///
    /// All issues contain the same remedy. Therefore, the remedy causes no further error.
    mutating func examineSecurity(of peripheral: Peripheral) {
        switch peripheral.pairing.method {
        case .none:
            let signed = Self.elementsWithSignedWrites(in: peripheral.services)
            let demanding = Self.elements(above: .open, in: peripheral)
            let isPersonNeeded = demanding.contains { $0.level > .encrypted }
            let remedy =
                isPersonNeeded
                ? "let centrals pair with Peripheral(…, pairing: .displayPasskey { … }) or another way that involves a person"
                : "let centrals pair with Peripheral(…, pairing: .justWorks) or another way"
            for element in signed {
                error(
                    element,
                    "its writes are signed with a key from pairing, but no central can pair",
                    remedy
                )
            }
            for (element, level) in demanding {
                error(element, "it requires \(level.linkDescription), but no central can pair", remedy)
            }
        case .justWorks:
            for (element, level) in Self.elements(above: .encrypted, in: peripheral) {
                error(
                    element,
                    "it requires \(level.linkDescription), which pairing with .justWorks does not provide",
                    "pair with .displayPasskey, .enterPasskey or .confirmNumber, or require only .encrypted"
                )
            }
        case .system, .displayPasskey, .enterPasskey, .confirmNumber, .displayPasskeyOrConfirmNumber,
            .enterOrDisplayPasskeyOrConfirmNumber:
            break
        }
    }

    private static func elementsWithSignedWrites(in services: [GATTService]) -> [String] {
        services.flatMap { service in
            service.characteristics.filter { $0.properties.contains(.authenticatedSignedWrites) }
                .map { $0.name(in: service) }
        }
    }

    /// The elements that require more than a security level for any use.
    private static func elements(
        above level: SecurityLevel,
        in peripheral: Peripheral
    ) -> [(element: String, level: SecurityLevel)] {
        var elements = peripheral.listeners.enumerated().map {
            (element: $1.name(at: $0), level: $1.security)
        }
        for service in peripheral.services {
            for characteristic in service.characteristics {
                let element = characteristic.name(in: service)
                elements.append((element, characteristic.demandedSecurity))
                for descriptor in characteristic.descriptors {
                    elements.append(
                        ("descriptor \(descriptor.uuid) of \(element)", descriptor.demandedSecurity)
                    )
                }
            }
        }
        return elements.filter { $0.level > level }
    }
}

extension CharacteristicDeclaration {
    /// The highest security that any use of the characteristic requires.
    fileprivate var demandedSecurity: SecurityLevel {
        max(
            properties.contains(.read) ? security.read : .open,
            properties.canWrite ? security.write : .open,
            properties.allowsSubscription ? security.notify : .open
        )
    }
}

extension DescriptorDeclaration {
    fileprivate var demandedSecurity: SecurityLevel {
        max(
            permissions.contains(.read) ? security.read : .open,
            permissions.contains(.write) ? security.write : .open
        )
    }
}

extension SecurityLevel {
    fileprivate var linkDescription: String {
        switch self {
        case .open: "no security"
        case .encrypted: "an encrypted link"
        case .authenticated: "an authenticated link"
        case .secureConnections: "an authenticated link with LE Secure Connections"
        }
    }
}
