internal import PeripheralCore

extension PeripheralSession {
    /// Sends a new value to all centrals that have subscribed to the characteristic.
    ///
    /// Each is notified, or indicated to, as it has asked for. Values of one characteristic by one caller arrive in order.
    /// When nobody has subscribed, nothing is sent. A value that is longer than a central's
    /// ``Central/maximumUpdateValueLength`` reaches that central shortened.
    ///
    /// A central whose link is not as secure as the characteristic demands gets nothing: a bonded one, for instance, that has
    /// come back and not yet encrypted, although its subscription has resumed. Those whom the Bluetooth stack can reach
    /// only together with it do not get the value either; with BlueZ before 5.76, these are all.
    ///
    /// The call suspends while the queue of a subscriber is full (``UpdatePolicy``), and returns when the Bluetooth stack has
    /// taken the value for all of them, or a newer value has taken its place (``UpdatePolicy/latest``). A call that is
    /// cancelled meanwhile sends it to nobody to whom it is not already on its way. ``update(_:_:)`` is the same without a wait.
    /// With ``UpdatePolicy/durable``, it returns when the value is preserved instead.
    ///
    /// - Parameters:
    ///   - characteristic: A characteristic of this peripheral with the property `.notify` or `.indicate`.
    ///   - value: The new value; at most 512 bytes when encoded.
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared``,
    ///   ``PeripheralError/Code/invalidValue`` or ``PeripheralError/Code/stopped``; `CancellationError`. With
    ///   ``UpdatePolicy/durable``, also ``RestorationError`` when the value is kept, but could not be preserved yet, or
    ///   finds no room while those before it could not.
    public func notify<Value>(_ characteristic: Characteristic<Value>, _ value: Value) async throws {
        let handle = try updatableHandle(of: characteristic.declaration)
        let bytes = try characteristic.declaration.checkedForUpdate(value.gattBytes)
        try await runtime.notify(handle, bytes)
    }

    /// Sends a new value to one central that has subscribed to the characteristic.
    ///
    /// No other gets it that has subscribed, as far as the Bluetooth stack has told. BlueZ before 5.76 can reach the
    /// only subscriber just as it reaches all. Later versions reach it so, too, when the value is empty, when the central is
    /// bonded and has come back, and when the characteristic can be indicated. Another that subscribes at that very moment then
    /// gets the value as well. What nobody else may see should be read, not notified.
    ///
    /// With BlueZ 5.80 and later, any subscriber can crash bluetoothd by a value that it alone is sent of a characteristic that
    /// can be indicated, while others have subscribed, too. Demand pairing of such a characteristic, or send to all of them.
    ///
    /// Otherwise as ``notify(_:_:)``.
    ///
    /// - Throws: As ``notify(_:_:)``; ``PeripheralError`` with the code ``PeripheralError/Code/notSubscribed`` when the
    ///   central has not subscribed or unsubscribes while the value waits, with ``PeripheralError/Code/disconnected`` when it
    ///   leaves meanwhile, with ``PeripheralError/Code/insufficientSecurity`` when its link is not as secure as
    ///   the characteristic demands, with ``PeripheralError/Code/notAddressable`` where the Bluetooth stack can reach
    ///   it only together with others: BlueZ before 5.76, when there are others; later versions, when the central is
    ///   bonded and has come back to its subscription, or another has just left, and there are others.
    public func notify<Value>(
        _ characteristic: Characteristic<Value>,
        _ value: Value,
        to central: Central
    ) async throws {
        let handle = try updatableHandle(of: characteristic.declaration)
        let bytes = try characteristic.declaration.checkedForUpdate(value.gattBytes)
        _ = try subscription(of: central, to: handle, characteristic.uuid)
        try await runtime.updates.notify(handle, bytes, to: .central(central.id))
    }

    /// Sends a new value to several centrals that have subscribed to the characteristic, one after the other.
    ///
    /// - Throws: As ``notify(_:_:to:)-(_,_,Central)`` for the first central that fails; those after it get nothing.
    public func notify<Value>(
        _ characteristic: Characteristic<Value>,
        _ value: Value,
        to centrals: some Sequence<Central>
    ) async throws {
        for central in centrals {
            try await notify(characteristic, value, to: central)
        }
    }

    /// Sends a new value to all centrals that have subscribed to the characteristic, and waits until all have confirmed
    /// it that asked for indications.
    ///
    /// When nobody has subscribed, the call returns at once. Indications to a central are sent one at a time, in the order
    /// of the calls; so an indication waits for those before it that reach one of the same centrals. It also waits for a
    /// document that is being sent to one of them by indications of the same characteristic; those of other characteristics
    /// come between the chunks of that. It does not wait for values that ``update(_:_:)`` has queued, and may overtake them.
    /// A call that is cancelled throws at once; its indication is not sent if it still waits for its turn.
    ///
    /// BlueZ tells how many centrals have confirmed, not who. Three things follow from that:
    /// - Where it does not tell that one of several centrals has unsubscribed (see ``Subscription/central``), the first indication
    ///   thereafter waits for it in vain, and is ``PeripheralError/Code/unconfirmed`` after 30 s; those that follow wait
    ///   for as many as have confirmed that one, until somebody subscribes.
    /// - When one of several centrals leaves, an indication that is not confirmed by all fails as
    ///   ``PeripheralError/Code/disconnected`` if a confirmation comes just then, whoever has given it.
    /// - In no version does it tell whether a central has asked for notifications or for indications. Of a characteristic
    ///   with both properties, an indication waits in vain for those who have asked for notifications.
    ///
    /// - Parameters:
    ///   - characteristic: A characteristic of this peripheral with the property `.indicate`.
    ///   - value: The new value; at most 512 bytes when encoded.
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/disconnected`` when a central is gone
    ///   before it has confirmed, ``PeripheralError/Code/unconfirmed`` when it has not within 30 s,
    ///   ``PeripheralError/Code/insufficientSecurity`` when one does not get the value for the reason told at
    ///   ``notify(_:_:)``; ``PeripheralError/Code/notDeclared``, ``PeripheralError/Code/invalidValue`` or
    ///   ``PeripheralError/Code/stopped``; `CancellationError`. With several centrals, it is the first error, thrown
    ///   when each has confirmed or cannot any more.
    public func indicate<Value>(_ characteristic: Characteristic<Value>, _ value: Value) async throws {
        let handle = try indicatableHandle(of: characteristic.declaration)
        let bytes = try characteristic.declaration.checkedForUpdate(value.gattBytes)
        guard runtime.register.hasSubscribers(handle) else { return }
        try await runtime.indicate(handle, bytes, to: .subscribers)
    }

    /// Sends a new value to one central that has subscribed to indications, and waits until it has confirmed it.
    ///
    /// Otherwise as ``indicate(_:_:)``. With BlueZ 5.80 and later, the central can crash bluetoothd by this while others have
    /// subscribed, too; see ``notify(_:_:to:)-(_,_,Central)``.
    ///
    /// - Throws: As ``indicate(_:_:)``; ``PeripheralError`` with the code ``PeripheralError/Code/notSubscribed`` when
    ///   the central has not subscribed to indications, or, while others have, too, has ended its subscription or subscribed
    ///   anew before it has confirmed; with ``PeripheralError/Code/notAddressable`` where the Bluetooth stack can reach it only
    ///   together with others; with ``PeripheralError/Code/unconfirmed`` also when BlueZ, from 5.80 on, loses the confirmation
    ///   since another central leaves that is not bonded.
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
    /// Empty when the session is no longer valid.
    public var subscriptions: [Subscription] {
        runtime.register.subscriptions
    }

    /// The subscriptions to a characteristic, in the order in which they began.
    ///
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared`` or
    ///   ``PeripheralError/Code/stopped``.
    public func subscribers<Value>(
        of characteristic: Characteristic<Value>
    ) throws(PeripheralError) -> [Subscription] {
        runtime.register.subscriptions(to: try updatableHandle(of: characteristic.declaration))
    }

    /// Tells whether any connected central has subscribed to the characteristic, as far as the Bluetooth stack tells.
    ///
    /// A bonded central that leaves is not counted until it returns, which resumes its subscriptions. What BlueZ does not
    /// tell is described at ``Subscription/central``.
    ///
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared`` or
    ///   ``PeripheralError/Code/stopped``.
    public func hasSubscribers<Value>(
        of characteristic: Characteristic<Value>
    ) throws(PeripheralError) -> Bool {
        runtime.register.hasSubscribers(try updatableHandle(of: characteristic.declaration))
    }

    /// Tells whether a central has subscribed to the characteristic, as far as the Bluetooth stack tells.
    ///
    /// Where it does not tell who has subscribed, and somebody has, that may be this central: `true`.
    ///
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared`` or
    ///   ``PeripheralError/Code/stopped``.
    public func isSubscribed<Value>(
        _ central: Central,
        to characteristic: Characteristic<Value>
    ) throws(PeripheralError) -> Bool {
        runtime.isSubscribed(central.id, to: try updatableHandle(of: characteristic.declaration))
    }
}

// MARK: - What is wrong with a call

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
                    "Characteristic \(characteristic.uuid) cannot be indicated; declare it with .indicate."
            )
        }
        return try runtime.valueHandle(of: characteristic)
    }

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

    /// The subscription of a central, which can be reached.
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
            message: "The Bluetooth stack does not tell which centrals have subscribed to characteristic "
                + "\(characteristic); send to all of them instead."
        )
    }
}
