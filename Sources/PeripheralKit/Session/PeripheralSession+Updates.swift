internal import PeripheralCore

extension PeripheralSession {
    /// Sends a new value to all subscribers of a characteristic.
    ///
    /// Each subscriber receives the kind of update that it has requested: a notification or an indication. If
    /// one task sends several values of a characteristic, the values arrive in the order of the calls. If the
    /// characteristic has no subscribers, the session does not send the value. If a value is longer than the
    /// ``Central/maximumUpdateValueLength`` of a central, the central receives a truncated value.
    ///
    /// A central does not receive the value if its link lacks the security that the characteristic requires.
    /// For example, after a bonded central reconnects, its subscription resumes before the central has
    /// encrypted the link. In some cases, the Bluetooth stack can send a value only to several centrals
    /// together. If the link of one of these centrals lacks the required security, none of these centrals
    /// receives the value.
    ///
    /// The function waits while the queue of a subscriber is full (see ``UpdatePolicy``). The function
    /// returns when the Bluetooth stack has accepted the value for all subscribers. With
    /// ``UpdatePolicy/latest``, a newer value can replace the value in the queue. For a replaced value, the
    /// function returns without an error, and the session does not send the value. With
    /// ``UpdatePolicy/durable``, the function returns when the value is saved. If the call is cancelled, the
    /// value is sent only to centrals for which the Bluetooth stack has already accepted the value.
    /// ``update(_:_:)`` queues a value without waiting.
    ///
    /// - Parameters:
    ///   - characteristic: A characteristic of this peripheral with the property `.notify` or `.indicate`.
    ///   - value: The new value, which is at most 512 bytes long when encoded.
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared``,
    ///   ``PeripheralError/Code/invalidValue`` or ``PeripheralError/Code/stopped``, or `CancellationError`.
    ///   With ``UpdatePolicy/durable``, the function also throws ``RestorationError`` if the session cannot
    ///   save the new value yet. After this error, the new value remains in the update queue. The function
    ///   also throws ``RestorationError`` if earlier unsaved values fill the update queue.
    public func notify<Value>(_ characteristic: Characteristic<Value>, _ value: Value) async throws {
        let handle = try updatableHandle(of: characteristic.declaration)
        let bytes = try characteristic.declaration.checkedForUpdate(value.gattBytes)
        try await runtime.notify(handle, bytes)
    }

    /// Sends a new value to one subscriber.
    ///
    /// The other subscribers do not receive the value, with one exception. If the session knows only one
    /// subscriber, the Bluetooth stack sometimes does not restrict the transmission to this subscriber. The
    /// value then also reaches subscribers that the Bluetooth stack has not reported, and centrals that
    /// subscribe during the transmission. Do not send confidential values as updates. Send a confidential
    /// value only as the response to a read request.
    ///
    /// Some versions of the Bluetooth stack have a defect that affects characteristics with the property
    /// `.indicate`. The defect occurs when the session sends a value to only one of several subscribers. The
    /// subscriber that receives the value can then crash the Bluetooth stack. To avoid the crash, require
    /// pairing for the characteristic, or send its values to all subscribers.
    ///
    /// The function follows the rules of ``notify(_:_:)-(_,Value)``.
    ///
    /// - Parameters:
    ///   - characteristic: A characteristic of this peripheral with the property `.notify` or `.indicate`.
    ///   - value: The new value, which is at most 512 bytes long when encoded.
    ///   - central: A central that has subscribed to the characteristic.
    ///   - fallback: The recipients of the value if the Bluetooth stack cannot send it to the central
    ///     separately (see ``update(_:_:to:fallback:)-(_,_,Central,_)``).
    /// - Throws: The errors of ``notify(_:_:)-(_,Value)``, or ``PeripheralError`` with one of these codes:
    ///   - ``PeripheralError/Code/notSubscribed`` when the central has not subscribed. The error also occurs
    ///     when the central unsubscribes while the value waits in the queue.
    ///   - ``PeripheralError/Code/disconnected`` when the central disconnects while the value waits in the
    ///     queue.
    ///   - ``PeripheralError/Code/insufficientSecurity`` when the link lacks the security that the
    ///     characteristic requires.
    ///   - ``PeripheralError/Code/notAddressable`` when the Bluetooth stack cannot send a value to the
    ///     central separately. Some Bluetooth stacks can send a value only to all subscribers together. Other
    ///     Bluetooth stacks cannot send a value to a single central after another central has disconnected.
    ///     The subscription of a bonded central resumes when the central reconnects. Some Bluetooth stacks
    ///     cannot send a value to the central alone after the subscription has resumed.
    public func notify<Value>(
        _ characteristic: Characteristic<Value>,
        _ value: Value,
        to central: Central,
        fallback: UpdateFallback = .none
    ) async throws {
        let handle = try updatableHandle(of: characteristic.declaration)
        let bytes = try characteristic.declaration.checkedForUpdate(value.gattBytes)
        try checkIsSubscribed(central, to: handle, characteristic.uuid, fallback: fallback)
        try await runtime.updates.notify(handle, bytes, to: .central(central.id), fallback: fallback)
    }

    /// Sends a new value to all subscribers and waits until every indication is confirmed.
    ///
    /// The function returns when each central that has asked for indications has confirmed the value. If the
    /// characteristic has no subscribers, the function returns immediately.
    ///
    /// A central receives one indication at a time, in the order of the calls. An indication therefore waits
    /// for all earlier indications to the same centrals. The session can also send a document as indications
    /// of a characteristic. A new indication of this characteristic waits until the transfer of the document
    /// ends. Indications of other characteristics are sent between the chunks of a document. An indication
    /// can arrive before values that ``update(_:_:)`` queued earlier.
    ///
    /// If the calling task is cancelled, the function throws an error immediately. If the cancelled
    /// indication is still waiting for earlier indications, it is not sent.
    ///
    /// Some Bluetooth stacks report only the number of centrals that have confirmed an indication. A
    /// Bluetooth stack that reports only the number of confirmations has these limitations:
    ///
    /// - A central can unsubscribe while other centrals remain subscribed. The Bluetooth stack might not
    ///   report this event (see ``Subscription/central``). Without this report, the session still expects the
    ///   unsubscribed central to confirm the next indication. After 30 s, this indication fails with
    ///   ``PeripheralError/Code/unconfirmed``. For example, assume that a characteristic has three
    ///   subscribers, and only two subscribers confirm an indication. The indication fails. Each later
    ///   indication waits for only two confirmations. When a further central subscribes, the next indication
    ///   requires confirmations from all subscribers.
    /// - The session might receive a confirmation at the moment when one of several centrals disconnects. The
    ///   session cannot determine which central sent the confirmation. If any other confirmation is missing
    ///   at this moment, the indication fails with ``PeripheralError/Code/disconnected``.
    /// - The Bluetooth stack does not report whether a central has asked for notifications or for
    ///   indications. If a characteristic has both `.notify` and `.indicate`, the function expects a
    ///   confirmation from every subscriber. Centrals that have asked for notifications do not send
    ///   confirmations.
    ///
    /// - Parameters:
    ///   - characteristic: A characteristic of this peripheral with the property `.indicate`.
    ///   - value: The new value, which is at most 512 bytes long when encoded.
    /// - Throws: `CancellationError`, or ``PeripheralError`` with one of the following codes. If there are
    ///   several centrals, the function waits for the result of each of them, and then throws the first
    ///   error.
    ///   - ``PeripheralError/Code/disconnected`` when a central disconnects before it has confirmed the
    ///     value.
    ///   - ``PeripheralError/Code/unconfirmed`` when a central has not confirmed the value within 30 s.
    ///   - ``PeripheralError/Code/insufficientSecurity`` when the link of a central lacks the security that
    ///     the characteristic requires (see ``notify(_:_:)-(_,Value)``).
    ///   - ``PeripheralError/Code/notDeclared``, ``PeripheralError/Code/invalidValue`` or
    ///     ``PeripheralError/Code/stopped``.
    public func indicate<Value>(_ characteristic: Characteristic<Value>, _ value: Value) async throws {
        let handle = try indicatableHandle(of: characteristic.declaration)
        let bytes = try characteristic.declaration.checkedForUpdate(value.gattBytes)
        guard runtime.register.hasSubscribers(handle) else { return }
        try await runtime.indicate(handle, bytes, to: .subscribers)
    }

    /// Sends a new value to one subscriber as an indication and waits for the confirmation.
    ///
    /// The function follows the rules of ``indicate(_:_:)``. In some versions of the Bluetooth stack, the
    /// central can crash the Bluetooth stack if the characteristic has other subscribers. See
    /// ``notify(_:_:to:fallback:)``.
    ///
    /// - Throws: The errors of ``indicate(_:_:)``, or ``PeripheralError`` with one of these codes:
    ///   - ``PeripheralError/Code/notSubscribed`` when the central has not subscribed to indications.
    ///   - ``PeripheralError/Code/notSubscribed`` when the central unsubscribes before it has confirmed the
    ///     value. The error also occurs when the central subscribes again before it has confirmed the value.
    ///     If the characteristic has only one subscriber, this error occurs only while the value waits for
    ///     earlier indications.
    ///   - ``PeripheralError/Code/notAddressable`` when the Bluetooth stack cannot send a value to the
    ///     central separately.
    ///   - ``PeripheralError/Code/unconfirmed`` when the central has not confirmed the value within 30 s. The
    ///     function also throws ``PeripheralError/Code/unconfirmed`` when the Bluetooth stack loses the
    ///     confirmation. The Bluetooth stack can lose the confirmation of a central when a different,
    ///     unbonded central disconnects.
    public func indicate<Value>(
        _ characteristic: Characteristic<Value>,
        _ value: Value,
        to central: Central
    ) async throws {
        let handle = try indicatableHandle(of: characteristic.declaration)
        let bytes = try characteristic.declaration.checkedForUpdate(value.gattBytes)
        try checkTakesIndications(central, of: handle, characteristic.uuid)
        try await runtime.indicate(handle, bytes, to: .central(central.id))
    }

    /// All subscriptions, in the order in which they began.
    ///
    /// The list of subscriptions is empty after the session ends.
    public var subscriptions: [Subscription] {
        runtime.register.subscriptions
    }

    /// Returns the subscriptions to a characteristic, in the order in which they began.
    ///
    /// The result depends on the subscriptions that the Bluetooth stack reports (see
    /// ``Subscription/central``). A disconnected bonded central does not count as a subscriber until its
    /// subscriptions resume.
    ///
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared`` or
    ///   ``PeripheralError/Code/stopped``.
    public func subscribers<Value>(
        of characteristic: Characteristic<Value>
    ) throws(PeripheralError) -> [Subscription] {
        runtime.register.subscriptions(to: try updatableHandle(of: characteristic.declaration))
    }

    /// Waits until a central has subscribed to a characteristic.
    ///
    /// If the characteristic has a subscriber already, the function returns at once. A subscription that
    /// resumes when a bonded central reconnects also ends the wait.
    ///
    /// ``readyToUpdate(_:)`` and ``update(_:_:)`` do not wait for a subscriber. A loop that sends values
    /// calls this function first, and therefore needs no processor time while no central has subscribed:
    ///
    /// ```swift
    /// while true {
    ///     try await session.waitForSubscriber(of: temperature)
    ///     try await session.notify(temperature, reading)
    /// }
    /// ```
    ///
    /// The Bluetooth stack reports a subscription after the central has subscribed. If a test calls this
    /// function after its central has subscribed, the values that the test sends next reach the central.
    ///
    /// - Returns: The subscription. If there are several, the function returns the oldest subscription.
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared`` or
    ///   ``PeripheralError/Code/stopped``, or `CancellationError`.
    @discardableResult
    public func waitForSubscriber<Value>(of characteristic: Characteristic<Value>) async throws
        -> Subscription
    {
        try await runtime.untilSubscribed(to: try updatableHandle(of: characteristic.declaration))
    }
}

// MARK: - Checks of calls

extension PeripheralSession {
    func updatableHandle(
        of characteristic: CharacteristicDeclaration
    ) throws(PeripheralError) -> AttributeHandle {
        try runtime.checkIsRunning()
        return try declaredHandle(of: characteristic)
    }

    func declaredHandle(
        of characteristic: CharacteristicDeclaration
    ) throws(PeripheralError) -> AttributeHandle {
        try characteristic.checkAllowsSubscription()
        return try runtime.valueHandle(of: characteristic)
    }

    func indicatableHandle(
        of characteristic: CharacteristicDeclaration
    ) throws(PeripheralError) -> AttributeHandle {
        try runtime.checkIsRunning()
        guard characteristic.properties.contains(.indicate) else {
            throw PeripheralError(
                code: .notDeclared,
                message:
                    "Characteristic \(characteristic.uuid) is declared without .indicate. Add .indicate."
            )
        }
        return try runtime.valueHandle(of: characteristic)
    }

    /// Checks that an indication can reach a central.
    ///
    /// - Throws: ``PeripheralError`` when a central cannot be reached, or has not asked for indications.
    func checkTakesIndications(
        _ central: Central,
        of handle: AttributeHandle,
        _ characteristic: BluetoothUUID
    ) throws(PeripheralError) {
        guard try subscription(of: central, to: handle, characteristic).kind == .notification else { return }
        throw PeripheralError(
            code: .notSubscribed,
            message: "Central \(central.address) has asked for notifications of characteristic "
                + "\(characteristic), not for indications."
        )
    }

    /// Checks that a value can reach a central.
    ///
    /// With a fallback, the value can also reach a subscriber that the stack does not identify.
    private func checkIsSubscribed(
        _ central: Central,
        to handle: AttributeHandle,
        _ characteristic: BluetoothUUID,
        fallback: UpdateFallback
    ) throws(PeripheralError) {
        do {
            _ = try subscription(of: central, to: handle, characteristic)
        } catch {
            guard fallback.isToAll, error.code == .notAddressable else { throw error }
        }
    }

    /// Returns the subscription of a central that can be reached.
    func subscription(
        of central: Central,
        to handle: AttributeHandle,
        _ characteristic: BluetoothUUID
    ) throws(PeripheralError) -> Subscription {
        let subscriptions = runtime.register.subscriptions(to: handle)
        if let subscription = subscriptions.first(where: { $0.central == central }) { return subscription }
        guard subscriptions.contains(where: { $0.central == nil }) else {
            throw PeripheralError(
                code: .notSubscribed,
                message: "Central \(central.address) has not subscribed to characteristic \(characteristic)."
            )
        }
        throw PeripheralError(
            code: .notAddressable,
            message: "The Bluetooth stack does not report which centrals have subscribed to characteristic "
                + "\(characteristic). Send to all subscribers instead."
        )
    }
}

// MARK: - Backpressure

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
    /// - The value is for a single central and has no fallback, but the Bluetooth stack can no longer send
    ///   values to that central separately.
    ///
    /// ``UpdateCounters/dropped`` counts the values that the Bluetooth stack did not accept.
    ///
    /// The ``UpdatePolicy`` of a characteristic determines the size of the queue. The ``UpdatePolicy`` also
    /// determines what happens to a value that does not fit into the queue.
    ///
    /// A slow central with a full queue delays the values for all other centrals. To send values to each
    /// central independently, call ``update(_:_:to:fallback:)-(_,_,Central,_)`` for each central.
    ///
    /// ``notify(_:_:)-(_,Value)`` waits for room in the queues. In all other respects, `notify` behaves like
    /// `update`. The documentation of `notify` describes which updates a central receives.
    ///
    /// - Parameters:
    ///   - characteristic: A characteristic of this peripheral with the property `.notify` or `.indicate`.
    ///   - value: The new value, which is at most 512 bytes long when encoded.
    /// - Returns: `true` if the session has queued the value.
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

    /// Queues a new value for one subscriber if the queue for the subscriber has room.
    ///
    /// The function follows the rules of ``update(_:_:)``.
    ///
    /// Whether the Bluetooth stack can send a value to one central separately can change at any moment. For
    /// example, it can change when another central disconnects. With the fallback
    /// ``UpdateFallback/allSubscribers``, the session then sends the value to all subscribers together, and
    /// the values keep their order:
    ///
    /// ```swift
    /// while try !session.update(temperature, reading, to: central, fallback: .allSubscribers) {
    ///     try await session.readyToUpdate(temperature, to: central, fallback: .allSubscribers)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - characteristic: A characteristic of this peripheral with the property `.notify` or `.indicate`.
    ///   - value: The new value, which is at most 512 bytes long when encoded.
    ///   - central: A central that has subscribed to the characteristic.
    ///   - fallback: The recipients of the value if the Bluetooth stack cannot send it to the central
    ///     separately. Without a fallback, the session drops a queued value that it can no longer send to the
    ///     central.
    /// - Returns: `true` if the session has queued the value.
    /// - Throws: The errors of ``update(_:_:)``, or ``PeripheralError`` with one of these codes:
    ///   - ``PeripheralError/Code/notSubscribed`` when the central has not subscribed to the characteristic.
    ///   - ``PeripheralError/Code/notAddressable`` when the Bluetooth stack cannot send a value to the
    ///     central separately.
    public func update<Value>(
        _ characteristic: Characteristic<Value>,
        _ value: Value,
        to central: Central,
        fallback: UpdateFallback = .none
    ) throws(PeripheralError) -> Bool {
        let handle = try updatableHandle(of: characteristic.declaration)
        let bytes = try characteristic.declaration.checkedForUpdate(value.gattBytes)
        try checkIsSubscribed(central, to: handle, characteristic.uuid, fallback: fallback)
        return try runtime.updates.update(handle, bytes, to: .central(central.id), fallback: fallback)
    }

    /// Queues a new value for several subscribers if the queue of each subscriber has room.
    ///
    /// If the queue of one subscriber has no room, the function returns `false` and queues the value for no
    /// subscriber. The function follows the rules of ``update(_:_:)``. If the sequence contains a central
    /// more than once, the session sends the value to that central only once.
    ///
    /// With the fallback ``UpdateFallback/allSubscribers``, all subscribers receive the value if one of the
    /// centrals cannot be reached separately. A central that has received the value already then receives it
    /// again.
    ///
    /// - Throws: The function throws the first error that occurs for any of the centrals (see
    ///   ``update(_:_:to:fallback:)-(_,_,Central,_)``). If an error occurs, the session does not queue the
    ///   value for any central.
    public func update<Value>(
        _ characteristic: Characteristic<Value>,
        _ value: Value,
        to centrals: some Sequence<Central>,
        fallback: UpdateFallback = .none
    ) throws(PeripheralError) -> Bool {
        let handle = try updatableHandle(of: characteristic.declaration)
        let bytes = try characteristic.declaration.checkedForUpdate(value.gattBytes)
        var identities: [Central.ID] = []
        for central in centrals {
            try checkIsSubscribed(central, to: handle, characteristic.uuid, fallback: fallback)
            identities.append(central.id)
        }
        return try runtime.updates.update(handle, bytes, to: .centrals(identities), fallback: fallback)
    }

    /// Waits until ``update(_:_:)`` would accept a value of any size.
    ///
    /// The function returns immediately if the queues have room, or if the characteristic has no subscribers.
    /// The function checks the current state of the queues. The function therefore also notices room that
    /// became available before the call. If a queue was full, the function returns when half of the queue is
    /// free. A program therefore does not wake up for each value that leaves the queue.
    ///
    /// When the queues have room, all waiting calls return in the order in which they began. The first caller
    /// might then fill the queues with new values. If the next caller calls ``update(_:_:)`` while the queues
    /// are full, ``update(_:_:)`` returns `false`. A call to ``notify(_:_:)-(_,Value)`` can also wait for
    /// room in the same queue. If the program called `notify` before `readyToUpdate`, the session first
    /// queues the value of `notify`. After that, `readyToUpdate` returns.
    ///
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared`` or
    ///   ``PeripheralError/Code/stopped``, or `CancellationError`.
    public func readyToUpdate<Value>(_ characteristic: Characteristic<Value>) async throws {
        let handle = try updatableHandle(of: characteristic.declaration)
        try await runtime.ready(handle)
    }

    /// Waits until the update queue of a central has room for any value.
    ///
    /// The function ``update(_:_:to:fallback:)-(_,_,Central,_)`` adds values to this queue. The function
    /// `readyToUpdate` follows the rules of ``readyToUpdate(_:)``.
    ///
    /// - Throws: The errors of ``readyToUpdate(_:)``, or ``PeripheralError`` with one of these codes:
    ///   - ``PeripheralError/Code/notSubscribed`` when the central has not subscribed, or unsubscribes during
    ///     the wait.
    ///   - ``PeripheralError/Code/disconnected`` when the central disconnects during the wait.
    ///   - ``PeripheralError/Code/notAddressable`` when the Bluetooth stack cannot send values to the central
    ///     separately.
    public func readyToUpdate<Value>(
        _ characteristic: Characteristic<Value>,
        to central: Central,
        fallback: UpdateFallback = .none
    ) async throws {
        let handle = try updatableHandle(of: characteristic.declaration)
        try checkIsSubscribed(central, to: handle, characteristic.uuid, fallback: fallback)
        try await runtime.updates.ready(handle, for: .central(central.id), fallback: fallback)
    }

    /// Waits for room in the queue of each central, one central after the other.
    ///
    /// The function follows the rules of ``readyToUpdate(_:)``. If another task sends values during the wait,
    /// a queue might be full again when the function returns.
    ///
    /// - Throws: The function throws the first error that occurs for any of the centrals (see
    ///   ``readyToUpdate(_:to:fallback:)-(_,Central,_)``).
    public func readyToUpdate<Value>(
        _ characteristic: Characteristic<Value>,
        to centrals: some Sequence<Central>,
        fallback: UpdateFallback = .none
    ) async throws {
        for central in centrals { try await readyToUpdate(characteristic, to: central, fallback: fallback) }
    }
}

// MARK: - Completion

extension PeripheralSession {
    /// Waits until all values that the session has accepted are completed.
    ///
    /// When a body returns, the session drops the values that are queued or in flight. To send these values
    /// first, call this function at the end of the body:
    ///
    /// ```swift
    /// try await peripheral.run(on: .bluez) { session in
    ///     try await session.notify(temperature, reading)
    ///     try await session.waitUntilSent()
    /// }
    /// ```
    ///
    /// The function waits for every value that was queued or in flight before the call, for all centrals and
    /// all characteristics. It also waits for indications. The function does not wait for these values:
    ///
    /// - Values that the session drops, for example because the central disconnects.
    /// - Documents. The call that sends a document waits for the document.
    /// - Preserved values of ``UpdatePolicy/durable`` that are not queued yet. The session sends them later,
    ///   also in the next run.
    ///
    /// A central can delay the return of the function until its link is lost. ``completionReporting``
    /// describes how the session determines that a value has been sent.
    ///
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/stopped``, or `CancellationError`.
    ///   A cancelled call drops no values.
    public func waitUntilSent() async throws {
        try await runtime.untilUpdatesAreForwarded()
    }

    /// How the session currently determines whether an update has been sent.
    ///
    /// The value of this property can change when the session publishes the peripheral again.
    public var completionReporting: CompletionReporting { runtime.updates.completionReporting }
}

extension PeripheralSession {
    /// The counted updates of each queue.
    ///
    /// The array is empty after the session ends.
    ///
    /// Each queue exists for the duration of one subscription. The counts begin when the subscription begins.
    public var updateStatistics: [UpdateStatistics] {
        runtime.updateStatistics
    }
}

extension PeripheralSession {
    /// The update totals of each characteristic that has had updates in this session.
    ///
    /// The array is empty after the session ends. The array contains at most one entry for each
    /// characteristic. If the Bluetooth stack can send updates to each subscriber separately, an update to
    /// three subscribers counts three times. The session counts each call to ``indicate(_:_:)`` as one
    /// update, even if there are several subscribers.
    ///
    /// The counts of ``updateStatistics`` start at 0 for each new subscription. During a
    /// session, the values in `updateTotals` are never reset to 0. A monitoring system needs both
    /// ``updateStatistics`` and `updateTotals`.
    public var updateTotals: [UpdateStatistics] {
        runtime.updateTotals
    }
}
