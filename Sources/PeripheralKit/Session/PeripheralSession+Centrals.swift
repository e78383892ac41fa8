public import PeripheralCore

extension PeripheralSession {
    /// The connected centrals, in the order in which they connected.
    ///
    /// The list contains all centrals with a connection to the adapter. The list also contains centrals that
    /// never send a request to this peripheral. The list of centrals is empty after the session ends.
    public var centrals: [Central] {
        runtime.register.centrals
    }

    /// Returns the current connection of a central.
    ///
    /// Use the connection as a key for data that is valid only during the connection, such as the consent of
    /// a user. Each later connection of the same central is a different key.
    ///
    /// - Returns: The connection, or `nil` if the central is not connected or the session has ended.
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
    /// The central can connect again immediately. To prevent the central from using the peripheral, call
    /// ``forget(_:)`` and declare attributes that require pairing.
    ///
    /// - Throws: ``PeripheralError`` with one of these codes, or an error that the Bluetooth stack reports:
    ///   - ``PeripheralError/Code/disconnected`` when the central is not connected.
    ///   - ``PeripheralError/Code/connectionLost`` when the peripheral is not published.
    ///   - ``PeripheralError/Code/stopped``.
    public func disconnect(_ central: Central) async throws {
        try await runtime.link().disconnect(central.id)
    }

    /// Returns all centrals that are bonded with this device.
    ///
    /// The function also returns centrals that are not connected. A bond belongs to the device and not to a
    /// single peripheral. The function therefore also returns centrals that bonded through other programs.
    ///
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/connectionLost`` when the
    ///   peripheral is not published, or with the code ``PeripheralError/Code/stopped``. The function also
    ///   throws the errors that the Bluetooth stack reports.
    public func bondedCentrals() async throws -> [Central] {
        try await runtime.link().bondedCentrals()
    }

    /// Removes the bond of a central and ends its connection.
    ///
    /// The central must pair again to create a new bond. The function also removes the data about the central
    /// from the preserved state.
    ///
    /// - Throws: ``PeripheralError`` with one of these codes, or an error that the Bluetooth stack reports:
    ///   - ``PeripheralError/Code/unknownCentral`` when the Bluetooth stack does not know the central.
    ///   - ``PeripheralError/Code/connectionLost`` when the peripheral is not published.
    ///   - ``PeripheralError/Code/stopped``.
    public func forget(_ central: Central) async throws {
        try await runtime.link().forget(central.id)
        await runtime.examineBonds()
    }

    /// Returns the attribute handle that centrals use for the value of a characteristic.
    ///
    /// - Returns: The handle, or `nil` if the Bluetooth stack does not report the handle.
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared`` or
    ///   ``PeripheralError/Code/stopped``.
    public func handle<Value>(of characteristic: Characteristic<Value>) throws(PeripheralError)
        -> AttributeHandle?
    {
        try runtime.checkIsRunning()
        return runtime.handleOnAir(try runtime.valueHandle(of: characteristic.declaration))
    }
}
