internal import PeripheralCore

extension CharacteristicDeclaration {
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared`` if centrals cannot
    ///   subscribe.
    func checkAllowsSubscription() throws(PeripheralError) {
        guard properties.allowsSubscription else {
            throw PeripheralError(
                code: .notDeclared,
                message: "Characteristic \(uuid) has no notifications or indications. "
                    + "Declare it with .notify or .indicate."
            )
        }
    }

    /// Returns the value if it can be sent.
    ///
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/invalidValue`` if its length is not
    ///   declared.
    func checkedForUpdate(_ bytes: [UInt8]) throws(PeripheralError) -> [UInt8] {
        guard bytes.count <= maximumValueLength else {
            throw PeripheralError(
                code: .invalidValue,
                message: "The value for characteristic \(uuid) has \(bytes.count) bytes. "
                    + "An attribute holds at most \(maximumValueLength) bytes. "
                    + "Shorten the value, or send it as a document with session.send."
            )
        }
        guard length.allows(bytes.count) else {
            throw PeripheralError(
                code: .invalidValue,
                message: "The value for characteristic \(uuid) has \(bytes.count) bytes. "
                    + "The value must have \(length)."
            )
        }
        return bytes
    }
}
