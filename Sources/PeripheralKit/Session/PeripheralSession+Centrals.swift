public import PeripheralCore

extension PeripheralSession {
    /// The centrals that are connected, in the order in which they came.
    ///
    /// All that are connected to the adapter, also those that never ask for anything of this peripheral.
    /// Empty when the session is no longer valid.
    public var centrals: [Central] {
        runtime.register.centrals
    }

    /// What tells the connection of a central from those that it had before and will have: for what holds no longer than
    /// a connection, such as a consent.
    ///
    /// - Returns: The connection; `nil` when the central is not connected, or the session no longer valid.
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
    /// A central may connect again at once; what keeps it away is ``forget(_:)`` together with attributes that demand
    /// pairing.
    ///
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/disconnected`` when it is not connected,
    ///   ``PeripheralError/Code/connectionLost`` while the peripheral is off the air,
    ///   ``PeripheralError/Code/stopped``, or with the reason of the Bluetooth stack.
    public func disconnect(_ central: Central) async throws {
        try await runtime.link().disconnect(central.id)
    }

    /// The centrals that are bonded with this device, connected or not.
    ///
    /// Bonds belong to the device, not to this peripheral: those that other programs have made are among them.
    ///
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/connectionLost`` while the peripheral is off
    ///   the air, ``PeripheralError/Code/stopped``, or with the reason of the Bluetooth stack.
    public func bondedCentrals() async throws -> [Central] {
        try await runtime.link().bondedCentrals()
    }

    /// Removes the bond of a central, and ends its connection; it has to pair again, and nothing is kept for it any more.
    ///
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/unknownCentral`` when there is nothing to
    ///   forget, ``PeripheralError/Code/connectionLost`` while the peripheral is off
    ///   the air, ``PeripheralError/Code/stopped``, or with the reason of the Bluetooth stack.
    public func forget(_ central: Central) async throws {
        try await runtime.link().forget(central.id)
        await runtime.examineBonds()
    }

    /// The handle of a characteristic's value on the air.
    ///
    /// - Returns: The handle; `nil` where the Bluetooth stack does not tell it.
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared`` or
    ///   ``PeripheralError/Code/stopped``.
    public func handle<Value>(of characteristic: Characteristic<Value>) throws(PeripheralError)
        -> AttributeHandle?
    {
        try runtime.checkIsRunning()
        return runtime.handleOnAir(try runtime.valueHandle(of: characteristic.declaration))
    }
}
