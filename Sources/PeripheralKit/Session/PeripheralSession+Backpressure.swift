internal import PeripheralCore

extension PeripheralSession {
    /// Queues a new value for all subscribers of a characteristic if there is room for it.
    ///
    /// The function never waits, like `CBPeripheralManager.updateValue`. It returns one of these results:
    ///
    /// - `true`: The value was queued. It is sent to each subscriber once, as a notification or an
    ///   indication. Values are sent in the order of the calls. Without subscribers, the value is not sent.
    /// - `false`: The value was not queued for any subscriber. ``readyToUpdate(_:)`` waits until there is
    ///   room.
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
    /// - The value is for one central alone, and the Bluetooth stack can no longer reach that central alone.
    ///
    /// ``UpdateStatistics/dropped`` counts the values that the stack did not accept.
    ///
    /// The ``UpdatePolicy`` of a characteristic determines the size of the queue, and the treatment of a
    /// value that does not fit.
    ///
    /// While the queue of a slow central is full, that central delays all other centrals. To serve each
    /// central at its own speed, call ``update(_:_:to:)-(_,_,Central)`` for each central.
    ///
    /// ``notify(_:_:)-(_,Value)`` sends the same updates, but waits for room. Its documentation describes the
    /// updates that a central receives.
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
    /// The function follows the rules of ``update(_:_:)``.
    ///
    /// - Throws: The errors of ``update(_:_:)``, and ``PeripheralError`` with one of these codes:
    ///   - ``PeripheralError/Code/notSubscribed`` when the central has not subscribed.
    ///   - ``PeripheralError/Code/notAddressable`` when the Bluetooth stack can reach the central only
    ///     together with other subscribers.
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

    /// Queues a new value for several subscribers if the queue of each subscriber has room.
    ///
    /// If the queue of one subscriber has no room, the value is not queued for any subscriber. The function
    /// follows the rules of ``update(_:_:)``. If a central is listed twice, the value is sent to this central
    /// once.
    ///
    /// - Throws: The errors of ``update(_:_:to:)-(_,_,Central)``, for the first central that fails. In this
    ///   case, the value is not queued for any central.
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
    /// The call returns at once if there is room, or if there are no subscribers. It checks the present state
    /// of the queue, so a program cannot miss the moment at which room appears. If the queue was full, the
    /// call returns when half of the queue is free. The program therefore does not wake up for each value.
    ///
    /// When there is room, all waiting calls return, in the order in which they began. The first caller may
    /// use up the room again. In that case, ``update(_:_:)`` returns `false` for the next caller. A call of
    /// ``notify(_:_:)-(_,Value)`` that has waited longer for the same room uses the room first.
    ///
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared`` or
    ///   ``PeripheralError/Code/stopped``; `CancellationError`.
    public func readyToUpdate<Value>(_ characteristic: Characteristic<Value>) async throws {
        let handle = try updatableHandle(of: characteristic.declaration)
        try await runtime.ready(handle)
    }

    /// Waits until ``update(_:_:to:)-(_,_,Central)`` would accept a value of any size for this central.
    ///
    /// The call follows the rules of ``readyToUpdate(_:)``.
    ///
    /// - Throws: The errors of ``readyToUpdate(_:)``, and ``PeripheralError`` with one of these codes:
    ///   - ``PeripheralError/Code/notSubscribed`` when the central has not subscribed, or unsubscribes during
    ///     the wait.
    ///   - ``PeripheralError/Code/disconnected`` when the central disconnects during the wait.
    ///   - ``PeripheralError/Code/notAddressable`` as soon as the Bluetooth stack can reach the central only
    ///     together with other subscribers.
    public func readyToUpdate<Value>(
        _ characteristic: Characteristic<Value>,
        to central: Central
    ) async throws {
        let handle = try updatableHandle(of: characteristic.declaration)
        _ = try subscription(of: central, to: handle, characteristic.uuid)
        try await runtime.updates.ready(handle, for: .central(central.id))
    }

    /// Waits until the queue of each of these centrals has had room for any value.
    ///
    /// The call follows the rules of ``readyToUpdate(_:)``. If other tasks send values meanwhile, the queue
    /// of a central may be full again when the call returns.
    ///
    /// - Throws: The errors of ``readyToUpdate(_:to:)-(_,Central)``, for the first central that fails.
    public func readyToUpdate<Value>(
        _ characteristic: Characteristic<Value>,
        to centrals: some Sequence<Central>
    ) async throws {
        for central in centrals { try await readyToUpdate(characteristic, to: central) }
    }
}
