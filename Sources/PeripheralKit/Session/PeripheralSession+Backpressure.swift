internal import PeripheralCore

extension PeripheralSession {
    /// Queues a new value for all centrals that have subscribed to the characteristic, if there is room for it.
    ///
    /// As `CBPeripheralManager.updateValue` does, it never waits:
    /// - `true`: the value is sent to each of them once, in the order of the calls, as each has asked for. When nobody has
    ///   subscribed, there is nobody to send it to. What still waits is dropped when its central leaves or unsubscribes, when the
    ///   peripheral goes off the air, and when the session ends; ``UpdateStatistics/dropped`` counts what the stack does not
    ///   take, be it that the link lacks the security that is demanded. BlueZ from 5.76 on can lose the way to a central
    ///   when another leaves that is not bonded, and reach it only together with others thereafter: what waits for that
    ///   central alone is dropped then, too.
    /// - `false`: nothing was queued, for no central. ``readyToUpdate(_:)`` tells when there is room again.
    ///
    /// ```swift
    /// while try !session.update(temperature, reading) {
    ///     try await session.readyToUpdate(temperature)
    /// }
    /// ```
    ///
    /// How much room there is, and what is done about a value that finds none, is declared with the characteristic:
    /// ``UpdatePolicy``. A central that does not keep up holds up the others when its queue is full; a program that wants to
    /// serve each at its own speed updates each by itself, with ``update(_:_:to:)-(_,_,Central)``. What arrives there is told at
    /// ``notify(_:_:)-(_,Value)``, which is the same with a wait.
    ///
    /// - Parameters:
    ///   - characteristic: A characteristic of this peripheral with the property `.notify` or `.indicate`.
    ///   - value: The new value; at most 512 bytes when encoded.
    /// - Returns: Whether the value was queued.
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared``,
    ///   ``PeripheralError/Code/invalidValue`` or ``PeripheralError/Code/stopped``.
    public func update<Value>(
        _ characteristic: Characteristic<Value>,
        _ value: Value
    ) throws(PeripheralError) -> Bool {
        // The queues tell whether the session is over.
        let handle = try declaredHandle(of: characteristic.declaration)
        let bytes = try characteristic.declaration.checkedForUpdate(value.gattBytes)
        if let isKept = try runtime.post(bytes, of: handle) { return isKept }
        return try runtime.updates.update(handle, bytes, to: .subscribers)
    }

    /// Queues a new value for one central that has subscribed to the characteristic, if there is room for it.
    ///
    /// Otherwise as ``update(_:_:)``.
    ///
    /// - Throws: As ``update(_:_:)``; ``PeripheralError`` with the code ``PeripheralError/Code/notSubscribed`` when the
    ///   central has not subscribed, with ``PeripheralError/Code/notAddressable`` where the Bluetooth stack can reach it
    ///   only together with others.
    public func update<Value>(
        _ characteristic: Characteristic<Value>,
        _ value: Value,
        to central: Central
    ) throws(PeripheralError) -> Bool {
        let handle = try updatableHandle(of: characteristic.declaration)
        let bytes = try characteristic.declaration.checkedForUpdate(value.gattBytes)
        _ = try subscription(of: central, to: handle, characteristic.uuid)
        return try runtime.updates.update(handle, bytes, to: .central(central.id))
    }

    /// Queues a new value for several centrals that have subscribed to the characteristic, if there is room with each of
    /// them; otherwise for none.
    ///
    /// Otherwise as ``update(_:_:)``. A central that is named twice gets it once.
    ///
    /// - Throws: As ``update(_:_:to:)-(_,_,Central)`` for the first central for which it is not possible; nothing is queued
    ///   then.
    public func update<Value>(
        _ characteristic: Characteristic<Value>,
        _ value: Value,
        to centrals: some Sequence<Central>
    ) throws(PeripheralError) -> Bool {
        let handle = try updatableHandle(of: characteristic.declaration)
        let bytes = try characteristic.declaration.checkedForUpdate(value.gattBytes)
        var identities: [Central.ID] = []
        for central in centrals {
            _ = try subscription(of: central, to: handle, characteristic.uuid)
            identities.append(central.id)
        }
        return try runtime.updates.update(handle, bytes, toEach: identities)
    }

    /// Waits until ``update(_:_:)`` would take a value of any size.
    ///
    /// It looks at what is, not at what changes: when there is room already, or nobody has subscribed, it returns at once, so
    /// that no moment can be missed. Otherwise it returns when half of the places in the queue are free, so that a program
    /// is not woken up for each value. All who wait go on, in the order in which they came; what one of them sends may
    /// take the room of the next, for whom ``update(_:_:)`` is then `false` once more. A call of
    /// ``notify(_:_:)-(_,Value)`` that waits for the same room comes first when it was there first.
    ///
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared`` or
    ///   ``PeripheralError/Code/stopped``; `CancellationError`.
    public func readyToUpdate<Value>(_ characteristic: Characteristic<Value>) async throws {
        let handle = try updatableHandle(of: characteristic.declaration)
        try await runtime.ready(handle)
    }

    /// Waits until ``update(_:_:to:)-(_,_,Central)`` would take a value of any size for this central.
    ///
    /// Otherwise as ``readyToUpdate(_:)``.
    ///
    /// - Throws: As ``readyToUpdate(_:)``; ``PeripheralError`` with the code ``PeripheralError/Code/notSubscribed`` when
    ///   the central has not subscribed or unsubscribes meanwhile, with ``PeripheralError/Code/disconnected`` when it
    ///   leaves meanwhile, with ``PeripheralError/Code/notAddressable`` as soon as the Bluetooth stack can reach it only
    ///   together with others.
    public func readyToUpdate<Value>(
        _ characteristic: Characteristic<Value>,
        to central: Central
    ) async throws {
        let handle = try updatableHandle(of: characteristic.declaration)
        _ = try subscription(of: central, to: handle, characteristic.uuid)
        try await runtime.updates.ready(handle, for: .central(central.id))
    }

    /// Waits until there has been room for a value of any size with each of these centrals.
    ///
    /// Otherwise as ``readyToUpdate(_:)``; whom others send to meanwhile may have none any more at the end.
    ///
    /// - Throws: As ``readyToUpdate(_:to:)-(_,Central)``, for the first central of which that is true.
    public func readyToUpdate<Value>(
        _ characteristic: Characteristic<Value>,
        to centrals: some Sequence<Central>
    ) async throws {
        for central in centrals { try await readyToUpdate(characteristic, to: central) }
    }
}
