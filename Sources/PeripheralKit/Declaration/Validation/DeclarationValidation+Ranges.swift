internal import PeripheralCore

/// A kind of element to which the Bluetooth SIG assigns UUIDs of 16 bits.
enum AssignedKind: String, CaseIterable {
    case service, characteristic, descriptor

    /// The numbers of this kind (Assigned Numbers, 3.4, 3.7 and 3.8), with room for later ones.
    private var range: ClosedRange<UInt32> {
        switch self {
        case .service: 0x1800...0x18FF
        case .descriptor: 0x2900...0x29FF
        case .characteristic: 0x2A00...0x2CFF
        }
    }

    /// The range as text.
    var rangeDescription: String {
        "0x\(String(range.lowerBound, radix: 16)) to 0x\(String(range.upperBound, radix: 16))"
    }

    /// Returns the kind of a UUID; `nil` if it is in none of the ranges.
    init?(of uuid: BluetoothUUID) {
        guard let number = uuid.assignedNumber,
            let kind = Self.allCases.first(where: { $0.range.contains(number) })
        else { return nil }
        self = kind
    }
}

extension DeclarationValidation {
    /// Warns of a service with the UUID of another kind of element.
    mutating func examineRange(of service: GATTService, _ element: String) {
        let exchanged = service.characteristics.first { AssignedKind(of: $0.uuid) == .service }
        examineRange(
            of: service.uuid,
            as: .service,
            element,
            exchangedWith: exchanged.map { "characteristic \($0.uuid)" }
        )
    }

    /// Warns of a characteristic with the UUID of another kind of element.
    mutating func examineRange(
        of characteristic: CharacteristicDeclaration,
        in service: GATTService,
        _ element: String
    ) {
        let isExchanged =
            AssignedKind(of: characteristic.uuid) == .service
            && AssignedKind(of: service.uuid) == .characteristic
        examineRange(
            of: characteristic.uuid,
            as: .characteristic,
            element,
            exchangedWith: isExchanged ? "service \(service.uuid)" : nil
        )
    }

    /// Warns of an element with the UUID of another kind of element.
    mutating func examineRange(
        of uuid: BluetoothUUID,
        as kind: AssignedKind,
        _ element: String,
        exchangedWith other: String? = nil
    ) {
        guard let assigned = AssignedKind(of: uuid), assigned != kind else { return }
        warning(
            element,
            "\(uuid) is the UUID of a \(assigned), not of a \(kind)",
            other.map { "exchange the UUID with that of \($0)" }
                ?? "use a UUID of a \(kind): the Bluetooth SIG assigns \(kind.rangeDescription)"
        )
    }
}
