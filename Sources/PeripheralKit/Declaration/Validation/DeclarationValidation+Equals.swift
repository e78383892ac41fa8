internal import PeripheralCore

// Finds elements with the same UUID that a central cannot distinguish.
//
// Several elements with the same UUID are legal, such as the reports of a keyboard. Without a descriptor or a
// constant that distinguishes them, they are probably a mistake.
extension DeclarationValidation {
    /// Warns about services with the same UUID that no constant distinguishes, once for each UUID.
    mutating func examineEquals(among services: [GATTService]) {
        var reported: Set<BluetoothUUID> = []
        var places: [BluetoothUUID: [Int]] = [:]
        for (index, service) in services.enumerated() where !reported.contains(service.uuid) {
            let earlier = places[service.uuid]?.first {
                services[$0].identity != service.identity && !services[$0].isDistinguished(from: service)
            }
            places[service.uuid, default: []].append(index)
            guard let earlier else { continue }
            reported.insert(service.uuid)
            warning(
                "service \(service.uuid)",
                "services \(earlier + 1) and \(index + 1) of the peripheral have this UUID, and nothing "
                    + "distinguishes them for a central",
                "give each service its own UUID, or describe a characteristic of each with a UserDescription"
            )
        }
    }

    /// Warns about characteristics of a service with the same UUID that no descriptor distinguishes, once for
    /// each UUID.
    mutating func examineEquals(amongCharacteristicsOf service: GATTService) {
        var reported: Set<BluetoothUUID> = []
        var places: [BluetoothUUID: [Int]] = [:]
        let characteristics = service.characteristics
        for (index, characteristic) in characteristics.enumerated()
        where !reported.contains(characteristic.uuid) {
            let earlier = places[characteristic.uuid]?.first {
                characteristics[$0].identity != characteristic.identity
                    && !characteristics[$0].isDistinguished(from: characteristic)
            }
            places[characteristic.uuid, default: []].append(index)
            guard let earlier else { continue }
            reported.insert(characteristic.uuid)
            warning(
                characteristic.name(in: service),
                "characteristics \(earlier + 1) and \(index + 1) of the service have this UUID, and nothing "
                    + "distinguishes them for a central",
                "give each characteristic its own UUID, or a different UserDescription"
            )
        }
    }
}

extension GATTService {
    /// Whether both services have a certain constant, with different values.
    fileprivate func isDistinguished(from other: GATTService) -> Bool {
        let others = other.constants
        return constants.contains { key, values in others[key].map { $0 != values } ?? false }
    }

    private struct ConstantKey: Hashable {
        var characteristic: BluetoothUUID
        var descriptor: BluetoothUUID?
    }

    /// The constant values of the characteristics and descriptors.
    private var constants: [ConstantKey: [[UInt8]]] {
        var constants: [ConstantKey: [[UInt8]]] = [:]
        func note(_ access: AttributeAccess, _ key: ConstantKey) {
            if case .value(let value) = access.readSources.first { constants[key, default: []].append(value) }
        }
        for characteristic in characteristics {
            note(characteristic.access, ConstantKey(characteristic: characteristic.uuid))
            for descriptor in characteristic.descriptors {
                note(
                    descriptor.access,
                    ConstantKey(characteristic: characteristic.uuid, descriptor: descriptor.uuid)
                )
            }
        }
        return constants
    }
}

extension CharacteristicDeclaration {
    /// Whether a descriptor distinguishes the two characteristics for a central.
    fileprivate func isDistinguished(from other: CharacteristicDeclaration) -> Bool {
        guard let marks, let others = other.marks else { return true }
        return marks != others
    }

    private struct Mark: Equatable {
        var descriptor: BluetoothUUID
        var value: [UInt8]
    }

    /// The constant descriptors that distinguish characteristics with the same UUID; `nil` if such a
    /// descriptor has no constant value.
    private var marks: [Mark]? {
        var marks: [Mark] = []
        for descriptor in descriptors where descriptor.uuid.distinguishesCharacteristics {
            guard case .value(let value) = descriptor.access.readSources.first else { return nil }
            marks.append(Mark(descriptor: descriptor.uuid, value: value))
        }
        return marks
    }
}

extension BluetoothUUID {
    fileprivate var distinguishesCharacteristics: Bool {
        switch self {
        case .characteristicUserDescription, .characteristicPresentationFormat, .reportReference,
            .environmentalSensingMeasurement:
            true
        default: false
        }
    }
}
