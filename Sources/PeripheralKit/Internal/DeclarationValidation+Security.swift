internal import PeripheralCore

extension DeclarationValidation {
    /// Finds the first attribute that no central could ever use, because it cannot pair as the attribute demands.
    mutating func examineSecurity(of peripheral: Peripheral) {
        switch peripheral.pairing.kind {
        case .none:
            if let element = peripheral.firstElementWithSignedWrites {
                error(
                    element,
                    "its writes are signed with a key that a central gets by pairing, and none may pair",
                    "let centrals pair by Peripheral(…, pairing: .justWorks) or another way"
                )
            }
            guard let (element, level) = peripheral.firstElement(above: .open) else { return }
            error(
                element,
                "it demands \(level.linkDescription), but no central may pair",
                level > .encrypted
                    ? "let centrals pair by Peripheral(…, pairing: .displayPasskey { … }) or another way with a person"
                    : "let centrals pair by Peripheral(…, pairing: .justWorks) or another way"
            )
        case .justWorks:
            guard let (element, level) = peripheral.firstElement(above: .encrypted) else { return }
            error(
                element,
                "it demands \(level.linkDescription), which pairing by .justWorks never gives",
                "pair by .displayPasskey, .enterPasskey or .confirmNumber, or demand .encrypted"
            )
        case .system, .displayPasskey, .enterPasskey, .confirmNumber:
            break
        }
    }
}

extension Peripheral {
    fileprivate var firstElementWithSignedWrites: String? {
        for service in services {
            for characteristic in service.characteristics
            where characteristic.properties.contains(.authenticatedSignedWrites) {
                return "characteristic \(characteristic.uuid) of service \(service.uuid)"
            }
        }
        return nil
    }

    /// The first characteristic or descriptor that demands more than a level for anything that it offers.
    fileprivate func firstElement(above level: SecurityLevel) -> (String, SecurityLevel)? {
        for service in services {
            for characteristic in service.characteristics {
                let element = "characteristic \(characteristic.uuid) of service \(service.uuid)"
                let demanded = characteristic.demandedSecurity
                if demanded > level { return (element, demanded) }
                for descriptor in characteristic.descriptors where descriptor.demandedSecurity > level {
                    return ("descriptor \(descriptor.uuid) of \(element)", descriptor.demandedSecurity)
                }
            }
        }
        return nil
    }
}

extension CharacteristicDeclaration {
    /// The most that any use of it demands of the link.
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
        case .secureConnections: "an authenticated link by LE Secure Connections"
        }
    }
}
