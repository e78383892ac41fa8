internal import PeripheralCore

extension PeripheralSession {
    /// Queues a new value for all subscribers of a characteristic if there is room for it.
    ///
    /// It never waits, as `CBPeripheralManager.updateValue` never does:
    ///
    /// - `true`: The value was queued. Each subscriber is sent the value once, in the order of the calls, as
    ///   a notification or an indication. Without subscribers, the value is not sent.
    /// - `false`: The value was queued for none of the subscribers. ``readyToUpdate(_:)`` waits until there
    ///   is room.
    ///
    /// ```swift
    /// while try !session.update(temperature, reading) {
    ///     try await session.readyToUpdate(temperature)
    /// }
    /// ```
    ///
    /// A queued value is dropped in these cases:
    ///
    /// - The central disconnects or unsubscribes.
    /// - The peripheral goes off the air, or the session ends.
    /// - The Bluetooth stack does not accept the value, for example because the link lacks the required
    ///   security.
    /// - The Bluetooth stack can no longer reach the central alone, and the value is for that central alone.
    ///
    /// ``UpdateStatistics/dropped`` counts the values that the stack did not accept.
    ///
    /// ``UpdatePolicy`` declares how much room there is, and what happens to a value that finds none. When
    /// the queue of a slow central is full, that central holds up the others. To serve each central at its
    /// own speed, update each one with ``update(_:_:to:)-(_,_,Central)``. ``notify(_:_:)-(_,Value)``
    /// describes what arrives at a central; it does the same with a wait.
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
        // The queues check whether the session is over.
        let handle = try declaredHandle(of: characteristic.declaration)
        let bytes = try characteristic.declaration.checkedForUpdate(value.gattBytes)
        if let isKept = try runtime.post(bytes, of: handle) { return isKept }
        return try runtime.updates.update(handle, bytes, to: .subscribers)
    }

    /// Queues a new value for one subscriber if there is room for it.
    ///
    /// It follows the rules of ``update(_:_:)``.
    ///
    /// - Throws: The errors of ``update(_:_:)``, and ``PeripheralError`` with one of these codes:
    ///   - ``PeripheralError/Code/notSubscribed`` when the central has not subscribed.
    ///   - ``PeripheralError/Code/notAddressable`` when the Bluetooth stack can reach the central only
    ///     together with others.
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

    /// Queues a new value for several subscribers if there is room with each of them.
    ///
    /// If there is no room with one of them, the value is queued for none. It follows the rules of
    /// ``update(_:_:)``. A central that is listed twice is sent the value once.
    ///
    /// - Throws: The errors of ``update(_:_:to:)-(_,_,Central)``, for the first central that fails. Nothing
    ///   is queued then.
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

    /// Waits until ``update(_:_:)`` would accept a value of any size.
    ///
    /// It returns at once if there is room, or if there are no subscribers. No wakeup can be missed, because
    /// it checks the present state instead of waiting for a change. If the queue was full, it returns when
    /// half of the queue is free, so that the program does not wake up for each value.
    ///
    /// All waiting calls continue together, in the order in which they began. The first of them may use up
    /// the room again; ``update(_:_:)`` then returns `false` for the next. A call of
    /// ``notify(_:_:)-(_,Value)`` that has waited longer for the same room comes first.
    ///
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared`` or
    ///   ``PeripheralError/Code/stopped``; `CancellationError`.
    public func readyToUpdate<Value>(_ characteristic: Characteristic<Value>) async throws {
        let handle = try updatableHandle(of: characteristic.declaration)
        try await runtime.ready(handle)
    }

    /// Waits until ``update(_:_:to:)-(_,_,Central)`` would accept a value of any size for this central.
    ///
    /// It follows the rules of ``readyToUpdate(_:)``.
    ///
    /// - Throws: The errors of ``readyToUpdate(_:)``, and ``PeripheralError`` with one of these codes:
    ///   - ``PeripheralError/Code/notSubscribed`` when the central has not subscribed, or unsubscribes during
    ///     the wait.
    ///   - ``PeripheralError/Code/disconnected`` when the central disconnects during the wait.
    ///   - ``PeripheralError/Code/notAddressable`` as soon as the Bluetooth stack can reach the central only
    ///     together with others.
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
    /// It follows the rules of ``readyToUpdate(_:)``. If other tasks send values meanwhile, a central may
    /// have no room again when the call returns.
    ///
    /// - Throws: The errors of ``readyToUpdate(_:to:)-(_,Central)``, for the first central that fails.
    public func readyToUpdate<Value>(
        _ characteristic: Characteristic<Value>,
        to centrals: some Sequence<Central>
    ) async throws {
        for central in centrals { try await readyToUpdate(characteristic, to: central) }
    }
}
