internal import PeripheralCore

extension Characteristic {
    /// The bytes of a value that is to be sent.
    ///
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/invalidValue`` when it has a length that is not
    ///   declared.
    func encodedForUpdate(_ value: Value) throws(PeripheralError) -> [UInt8] {
        let bytes = value.gattBytes
        guard declaration.length.allows(bytes.count) else {
            throw PeripheralError(
                code: .invalidValue,
                message: "The value for characteristic \(uuid) has \(bytes.count) bytes; "
                    + "it may have \(declaration.length)."
            )
        }
        return bytes
    }
}
