internal import PeripheralCore

extension DeclarationValidation {
    /// Finds the attributes that no central can use because the pairing never reaches their security.
    ///
    /// All issues contain the same remedy. Therefore, the remedy causes no further error.
    mutating func examineSecurity(of peripheral: Peripheral) {
        switch peripheral.pairing.kind {
        case .none:
            let signed = peripheral.elementsWithSignedWrites
            let demanding = peripheral.elements(above: .open)
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
            for (element, level) in peripheral.elements(above: .encrypted) {
                error(
                    element,
                    "it requires \(level.linkDescription), which pairing with .justWorks does not provide",
                    "pair with .displayPasskey, .enterPasskey or .confirmNumber, or require only .encrypted"
                )
            }
        case .system, .displayPasskey, .enterPasskey, .confirmNumber:
            break
        }
    }
}

extension Peripheral {
    fileprivate var elementsWithSignedWrites: [String] {
        services.flatMap { service in
            service.characteristics.filter { $0.properties.contains(.authenticatedSignedWrites) }
                .map { "characteristic \($0.uuid) of service \(service.uuid)" }
        }
    }

    /// The characteristics and descriptors that require more than a security level for any use.
    fileprivate func elements(above level: SecurityLevel) -> [(element: String, level: SecurityLevel)] {
        var elements: [(element: String, level: SecurityLevel)] = []
        for service in services {
            for characteristic in service.characteristics {
                let element = "characteristic \(characteristic.uuid) of service \(service.uuid)"
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
