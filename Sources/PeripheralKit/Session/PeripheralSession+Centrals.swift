public import PeripheralCore

extension PeripheralSession {
    /// The connected centrals, in the order in which they connected.
    ///
    /// The list contains all centrals that are connected to the adapter, even centrals that never send a
    /// request to this peripheral. The list is empty when the session is no longer valid.
    public var centrals: [Central] {
        runtime.register.centrals
    }

    /// Returns the identity of a central's present connection.
    ///
    /// Use this identity for data that must not outlast the connection, such as the consent of a user. A
    /// later connection of the same central has another identity.
    ///
    /// - Returns: The connection; `nil` when the central is not connected or the session is no longer valid.
    public func connection(of central: Central) -> Central.Connection? {
        guard (try? runtime.checkIsRunning()) != nil else { return nil }
        let number = runtime.connections.number(of: central.id)
        guard runtime.register.centrals.contains(central) else {
            runtime.connections.end(central.id)
            return nil
        }
        return Central.Connection(central: central.id, number: number, numbers: runtime.connections)
    }

    /// Ends the connection of a central.
    ///
    /// The central may connect again at once. To prevent the central from using the peripheral, call
    /// ``forget(_:)`` and declare attributes that require pairing.
    ///
    /// - Throws: ``PeripheralError`` with one of these codes, or with the error of the Bluetooth stack:
    ///   - ``PeripheralError/Code/disconnected`` when the central is not connected.
    ///   - ``PeripheralError/Code/connectionLost`` while the peripheral is off the air.
    ///   - ``PeripheralError/Code/stopped``.
    public func disconnect(_ central: Central) async throws {
        try await runtime.link().disconnect(central.id)
    }

    /// Returns all centrals that are bonded with this device.
    ///
    /// The result includes centrals that are not connected. Bonds belong to the device, not to this
    /// peripheral. The result therefore includes centrals whose bonds other programs created.
    ///
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/connectionLost`` while the
    ///   peripheral is off the air, with the code ``PeripheralError/Code/stopped``, or with the error of the
    ///   Bluetooth stack.
    public func bondedCentrals() async throws -> [Central] {
        try await runtime.link().bondedCentrals()
    }

    /// Removes the bond of a central and ends its connection.
    ///
    /// The central has to pair again. The preserved state no longer contains data for this central.
    ///
    /// - Throws: ``PeripheralError`` with one of these codes, or with the error of the Bluetooth stack:
    ///   - ``PeripheralError/Code/unknownCentral`` when the Bluetooth stack does not know the central.
    ///   - ``PeripheralError/Code/connectionLost`` while the peripheral is off the air.
    ///   - ``PeripheralError/Code/stopped``.
    public func forget(_ central: Central) async throws {
        try await runtime.link().forget(central.id)
        await runtime.examineBonds()
    }

    /// Returns the handle of a characteristic's value on the air.
    ///
    /// - Returns: The handle; `nil` when the Bluetooth stack does not report it.
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared`` or
    ///   ``PeripheralError/Code/stopped``.
    public func handle<Value>(of characteristic: Characteristic<Value>) throws(PeripheralError)
        -> AttributeHandle?
    {
        try runtime.checkIsRunning()
        return runtime.handleOnAir(try runtime.valueHandle(of: characteristic.declaration))
    }
}
