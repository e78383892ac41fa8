internal import PeripheralCore

extension PeripheralSession {
    /// Queues a new value for all subscribers of a characteristic if the queues have room.
    ///
    /// Like `CBPeripheralManager.updateValue` in CoreBluetooth, the function never waits. The function
    /// returns one of these results:
    ///
    /// - `true`: The value is in the queues of all subscribers. The session sends the value to each
    ///   subscriber once, as a notification or an indication. The session sends values in the order of the
    ///   calls. If the characteristic has no subscribers, the session does not send the value.
    /// - `false`: The value is not in the queue of any subscriber. ``readyToUpdate(_:)`` waits until the
    ///   queues have room.
    ///
    /// ```swift
    /// while try !session.update(temperature, reading) {
    ///     try await session.readyToUpdate(temperature)
    /// }
    /// ```
    ///
    /// The session drops a queued value in these cases:
    ///
    /// - The central disconnects or unsubscribes.
    /// - The peripheral is no longer published, or the session ends.
    /// - The Bluetooth stack does not accept the value, for example because the link lacks the required
    ///   security.
    /// - The value is for a single central, but the Bluetooth stack can no longer send values to that central
    ///   separately.
    ///
    /// ``UpdateStatistics/dropped`` counts the values that the Bluetooth stack did not accept.
    ///
    /// The ``UpdatePolicy`` of a characteristic determines the size of the queue. The ``UpdatePolicy`` also
    /// determines what happens to a value that does not fit into the queue.
    ///
    /// A slow central with a full queue delays the values for all other centrals. To send values to each
    /// central independently, call ``update(_:_:to:)-(_,_,Central)`` for each central.
    ///
    /// ``notify(_:_:)-(_,Value)`` waits for room in the queues. In all other respects, `notify` behaves like
    /// `update`. The documentation of `notify` describes which updates a central receives.
    ///
    /// - Parameters:
    ///   - characteristic: A characteristic of this peripheral with the property `.notify` or `.indicate`.
    ///   - value: The new value, which is at most 512 bytes long when encoded.
    /// - Returns: Whether the session has queued the value.
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

    /// Queues a new value for one subscriber if the queue of the subscriber has room.
    ///
    /// The function follows the rules of ``update(_:_:)``.
    ///
    /// - Throws: The errors of ``update(_:_:)``, or ``PeripheralError`` with one of these codes:
    ///   - ``PeripheralError/Code/notSubscribed`` when the central has not subscribed to the characteristic.
    ///   - ``PeripheralError/Code/notAddressable`` when the Bluetooth stack cannot send a value to the
    ///     central separately.
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
    /// If the queue of even one subscriber has no room, the function does not queue the value for any
    /// subscriber. The function follows the rules of ``update(_:_:)``. If the sequence contains a central
    /// more than once, the session sends the value to that central only once.
    ///
    /// - Throws: The function throws the error of the first central that fails (see
    ///   ``update(_:_:to:)-(_,_,Central)``). If any central fails, the session does not queue the value for
    ///   any central.
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
    /// The function returns immediately if the queues have room, or if the characteristic has no subscribers.
    /// The function checks the current state of the queues. A program therefore cannot miss the moment at
    /// which a full queue has room again. If a queue was full, the function returns when half of the queue is
    /// free. A program therefore does not wake up for each value that leaves the queue.
    ///
    /// When the queues have room, all waiting calls return in the order in which they began. The first caller
    /// might fill the queues again. If the queues are full again, ``update(_:_:)`` returns `false` for the
    /// next caller. A call of ``notify(_:_:)-(_,Value)`` that has waited longer for room in the same queue
    /// goes first.
    ///
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared`` or
    ///   ``PeripheralError/Code/stopped``, or `CancellationError`.
    public func readyToUpdate<Value>(_ characteristic: Characteristic<Value>) async throws {
        let handle = try updatableHandle(of: characteristic.declaration)
        try await runtime.ready(handle)
    }

    /// Waits until ``update(_:_:to:)-(_,_,Central)`` would accept a value of any size for a central.
    ///
    /// The function follows the rules of ``readyToUpdate(_:)``.
    ///
    /// - Throws: The errors of ``readyToUpdate(_:)``, or ``PeripheralError`` with one of these codes:
    ///   - ``PeripheralError/Code/notSubscribed`` when the central has not subscribed, or unsubscribes during
    ///     the wait.
    ///   - ``PeripheralError/Code/disconnected`` when the central disconnects during the wait.
    ///   - ``PeripheralError/Code/notAddressable`` when the Bluetooth stack cannot, or can no longer, send
    ///     values to the central separately.
    public func readyToUpdate<Value>(
        _ characteristic: Characteristic<Value>,
        to central: Central
    ) async throws {
        let handle = try updatableHandle(of: characteristic.declaration)
        _ = try subscription(of: central, to: handle, characteristic.uuid)
        try await runtime.updates.ready(handle, for: .central(central.id))
    }

    /// Waits for room in the queue of each central, one central after the other.
    ///
    /// The function follows the rules of ``readyToUpdate(_:)``. If another task sends values during the wait,
    /// a queue might be full again when the function returns.
    ///
    /// - Throws: The function throws the error of the first central that fails (see
    ///   ``readyToUpdate(_:to:)-(_,Central)``).
    public func readyToUpdate<Value>(
        _ characteristic: Characteristic<Value>,
        to centrals: some Sequence<Central>
    ) async throws {
        for central in centrals { try await readyToUpdate(characteristic, to: central) }
    }
}
