internal import PeripheralCore

// What a publication knows of the declaration besides its attributes.

extension AttributeTable {
    /// Returns the maximum lengths that the declaration states, by the value handles of their
    /// characteristics.
    ///
    /// - Parameter services: The services of this table.
    /// - Returns: The lengths, without the lengths of characteristics that allow any length.
    func maximumLengths(of services: [GATTService]) -> [AttributeHandle: Int] {
        var lengths: [AttributeHandle: Int] = [:]
        for (index, service) in services.enumerated() {
            for (position, characteristic) in service.characteristics.enumerated() {
                guard characteristic.length != .any else { continue }
                lengths[valueHandle(service: index, characteristic: position)] = characteristic.length.maximum
            }
        }
        return lengths
    }
}

extension Pairing {
    /// Whether the program decides about a bonded central that pairs again by Just Works.
    var asksBeforeReplacingBonds: Bool {
        kinds.contains { kind in
            if case .justWorks(_?) = kind { true } else { false }
        }
    }
}
