internal import PeripheralCore

/// A peripheral while it is published: what the program can do with it.
///
/// The session is valid in the body of ``Peripheral/run(on:logger:_:)``; afterwards its functions throw a
/// ``PeripheralError`` with the code ``PeripheralError/Code/stopped``.
public struct PeripheralSession: Sendable {
    let runtime: PeripheralRuntime

    /// Sends a new value to all centrals that have subscribed to the characteristic.
    ///
    /// Each is notified, or indicated to, as it has asked for. Values of one caller arrive in order. When
    /// nobody has subscribed, nothing is sent. A value that is longer than a central's
    /// ``Central/maximumUpdateValueLength`` reaches that central shortened.
    ///
    /// The call suspends while the Bluetooth stack has too much to send. A call that is cancelled while it is
    /// suspended sends nothing.
    ///
    /// - Parameters:
    ///   - characteristic: A characteristic of this peripheral with the property `.notify` or `.indicate`.
    ///   - value: The new value; at most 512 bytes when encoded.
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared``,
    ///   ``PeripheralError/Code/invalidValue`` or ``PeripheralError/Code/stopped``; `CancellationError`.
    public func notify<Value>(_ characteristic: Characteristic<Value>, _ value: Value) async throws {
        let handle = try updatableHandle(of: characteristic)
        guard runtime.hasSubscribers(handle) else { return }
        let bytes = value.gattBytes
        guard bytes.count <= maximumValueLength else {
            throw PeripheralError(
                code: .invalidValue,
                message: "The value for characteristic \(characteristic.uuid) has \(bytes.count) bytes; "
                    + "at most \(maximumValueLength) can be sent."
            )
        }
        try await runtime.send(Update(characteristic: handle, value: bytes))
    }

    /// Tells whether any central has subscribed to the characteristic, as far as the Bluetooth stack tells.
    ///
    /// Up to now, a bonded central that left while it was subscribed counts as subscribed: it resumes its
    /// subscription when it returns.
    ///
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared`` or
    ///   ``PeripheralError/Code/stopped``.
    public func hasSubscribers<Value>(
        _ characteristic: Characteristic<Value>
    ) throws(PeripheralError) -> Bool {
        runtime.hasSubscribers(try updatableHandle(of: characteristic))
    }

    private func updatableHandle<Value>(
        of characteristic: Characteristic<Value>
    ) throws(PeripheralError) -> AttributeHandle {
        try runtime.checkIsRunning()
        guard !characteristic.properties.isDisjoint(with: [.notify, .indicate]) else {
            throw PeripheralError(
                code: .notDeclared,
                message: "Characteristic \(characteristic.uuid) can be neither notified nor indicated; "
                    + "declare it with .notify or .indicate."
            )
        }
        return try runtime.valueHandle(of: characteristic)
    }
}
