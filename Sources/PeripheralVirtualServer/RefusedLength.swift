internal import PeripheralCore
package import PeripheralKit

/// A write that the imitated version has refused because of the length of the value.
package struct RefusedLength: Hashable, Sendable {
    package var central: Central
    /// The name of the written attribute, such as `characteristic 2a6e of service 181a`.
    package var attribute: String
    /// The number of bytes; for a value in parts, up to the part that was refused.
    package var length: Int
    /// Whether ``length`` is the length of the whole value.
    package var isWhole: Bool
    /// The number of bytes that the imitated version accepts in such a write.
    package var maximum: Int

    /// Returns the explanation for a log.
    ///
    /// - Parameter stack: The name of the imitated stack, such as `BlueZ 5.66`.
    /// - Returns: The explanation.
    package func explanation(by stack: String) -> String {
        let reason =
            maximum < maximumLength
            ? ", because versions before 5.69 count a part of the packet as part of the value" : ""
        let length = isWhole ? "\(length) bytes" : "\(length) bytes or more"
        return "\(stack) has refused a written value of \(length) for \(attribute) with "
            + "'invalid attribute value length'. In such a write it accepts at most \(maximum) bytes\(reason). "
            + "No version accepts more than \(maximumLength) bytes. The program does not learn of the write."
    }
}

extension ServerDatabase {
    /// Returns the name of an attribute in messages, such as `characteristic 2a6e of service 181a`.
    func name(of handle: AttributeHandle) -> String {
        guard let service = discovered.services.first(where: { $0.handles.contains(handle) }),
            let characteristic = service.characteristics.last(where: { $0.declarationHandle <= handle })
        else { return "the attribute at handle \(handle)" }
        let name = ElementName.characteristic(characteristic.uuid, nil, of: service.uuid)
        return handle <= characteristic.valueHandle ? name : "a descriptor of \(name)"
    }
}
