internal import PeripheralCore

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
