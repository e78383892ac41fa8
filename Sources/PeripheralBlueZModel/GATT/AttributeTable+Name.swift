package import PeripheralCore

extension AttributeTable {
    /// Returns the name of an attribute for the log, such as `characteristic 2a6e`.
    package func name(of handle: AttributeHandle) -> String {
        guard let attribute = index(of: handle).map({ attributes[$0] }),
            let characteristic = characteristic(of: attribute.kind)
        else { return "\(handle)" }
        guard case .descriptor = attribute.kind else { return "characteristic \(characteristic.uuid)" }
        return "descriptor \(attribute.type) of characteristic \(characteristic.uuid)"
    }
}
