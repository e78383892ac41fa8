internal import PeripheralCore

extension PeripheralSession {
    /// Sends a new value to all subscribers of a characteristic.
    ///
    /// Each subscriber receives a notification or an indication, depending on its request. Values of one
    /// characteristic from one caller arrive in the order of the calls. Without subscribers, the value is not
    /// sent. A value that is longer than a central's ``Central/maximumUpdateValueLength`` arrives shortened.
    ///
    /// A central does not receive the value if its link lacks the security that the characteristic requires.
    /// For example, a bonded central that returns resumes its subscription before it has encrypted the link.
    /// If the Bluetooth stack can reach other centrals only together with such a central, these centrals do
    /// not receive the value either.
    ///
    /// The call waits while the queue of a subscriber is full (see ``UpdatePolicy``). It returns when the
    /// Bluetooth stack has accepted the value for all subscribers, or when a newer value has replaced it
    /// (``UpdatePolicy/latest``). With ``UpdatePolicy/durable``, it returns when the value is saved instead.
    /// If the call is cancelled, the value is sent only to centrals for which it is already in flight.
    /// ``update(_:_:)`` sends a value without waiting.
    ///
    /// - Parameters:
    ///   - characteristic: A characteristic of this peripheral with the property `.notify` or `.indicate`.
    ///   - value: The new value; at most 512 bytes when encoded.
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared``,
    ///   ``PeripheralError/Code/invalidValue`` or ``PeripheralError/Code/stopped``; `CancellationError`. With
    ///   ``UpdatePolicy/durable``, the function also throws ``RestorationError`` in two cases: The value is
    ///   queued but could not be saved yet. There is no room for the value because earlier values cannot be
    ///   saved.
    public func notify<Value>(_ characteristic: Characteristic<Value>, _ value: Value) async throws {
        let handle = try updatableHandle(of: characteristic.declaration)
        let bytes = try characteristic.declaration.checkedForUpdate(value.gattBytes)
        try await runtime.notify(handle, bytes)
    }

    /// Sends a new value to one subscriber.
    ///
    /// No other subscriber receives the value, as far as the Bluetooth stack reports subscribers. In some
    /// cases, the stack reaches a single subscriber by sending the value to all subscribers. If another
    /// central subscribes at that moment, that central receives the value as well. Do not send confidential
    /// values. Let centrals read these values instead.
    ///
    /// With some versions of the Bluetooth stack, a subscriber can crash the stack if three conditions are
    /// met: The characteristic has the property `.indicate`. Other centrals have subscribed as well. A value
    /// is sent to that subscriber alone. Require pairing for such a characteristic, or send its values to all
    /// subscribers.
    ///
    /// The call follows the rules of ``notify(_:_:)-(_,Value)``.
    ///
    /// - Throws: The errors of ``notify(_:_:)-(_,Value)``, and ``PeripheralError`` with one of these codes:
    ///   - ``PeripheralError/Code/notSubscribed`` when the central has not subscribed, or unsubscribes while
    ///     the value waits.
    ///   - ``PeripheralError/Code/disconnected`` when the central disconnects while the value waits.
    ///   - ``PeripheralError/Code/insufficientSecurity`` when the link lacks the security that the
    ///     characteristic requires.
    ///   - ``PeripheralError/Code/notAddressable`` when the Bluetooth stack can reach the central only
    ///     together with other subscribers. Some stacks can send a value only to all subscribers together.
    ///     Other stacks cannot reach a central alone after another central has disconnected, or if it is a
    ///     bonded central whose subscription has resumed.
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

    /// Sends a new value to several subscribers, one after the other.
    ///
    /// - Throws: The errors of ``notify(_:_:to:)-(_,_,Central)``, for the first central that fails. The
    ///   centrals after that central receive nothing.
    public func notify<Value>(
        _ characteristic: Characteristic<Value>,
        _ value: Value,
        to centrals: some Sequence<Central>
    ) async throws {
        for central in centrals {
            try await notify(characteristic, value, to: central)
        }
    }

    /// Sends a new value to all subscribers and waits until every indication is confirmed.
    ///
    /// The call returns when each central that has asked for indications has confirmed the value. Without
    /// subscribers, the call returns at once.
    ///
    /// A central receives one indication at a time, in the order of the calls. An indication therefore waits
    /// for earlier indications to any of the same centrals. An indication also waits for a document that is
    /// being sent to one of these centrals as indications of the same characteristic. Indications of other
    /// characteristics are sent between the chunks of a document. An indication does not wait for queued
    /// values of ``update(_:_:)`` and may overtake these values.
    ///
    /// A cancelled call throws at once. An indication that still waits for its turn is then not sent.
    ///
    /// Some Bluetooth stacks report only the number of centrals that have confirmed. With such a stack, these
    /// limitations apply:
    ///
    /// - The stack may not report that one of several centrals has unsubscribed (see
    ///   ``Subscription/central``). The next indication then waits for that central, and fails with
    ///   ``PeripheralError/Code/unconfirmed`` after 30 s. Until another central subscribes, later indications
    ///   wait only for the number of confirmations that the failed indication received.
    /// - When one of several centrals disconnects, an indication that not all centrals have confirmed fails
    ///   with ``PeripheralError/Code/disconnected`` if any confirmation arrives at that moment.
    /// - The stack does not report whether a central has asked for notifications or for indications. If a
    ///   characteristic has both properties, an indication waits for centrals that have asked for
    ///   notifications and will not confirm.
    ///
    /// - Parameters:
    ///   - characteristic: A characteristic of this peripheral with the property `.indicate`.
    ///   - value: The new value; at most 512 bytes when encoded.
    /// - Throws: `CancellationError`, or ``PeripheralError`` with one of these codes. With several centrals,
    ///   the function throws the first error, after each central has either confirmed or failed.
    ///   - ``PeripheralError/Code/disconnected`` when a central disconnects before it has confirmed.
    ///   - ``PeripheralError/Code/unconfirmed`` when a central has not confirmed within 30 s.
    ///   - ``PeripheralError/Code/insufficientSecurity`` when a central does not receive the value because
    ///     its link lacks the required security, see ``notify(_:_:)-(_,Value)``.
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
    /// The call follows the rules of ``indicate(_:_:)``. With some versions of the Bluetooth stack, the
    /// central can crash the stack while other centrals have subscribed as well. See
    /// ``notify(_:_:to:)-(_,_,Central)``.
    ///
    /// - Throws: The errors of ``indicate(_:_:)``, and ``PeripheralError`` with one of these codes:
    ///   - ``PeripheralError/Code/notSubscribed`` when the central has not subscribed to indications. If
    ///     other centrals have subscribed as well, this error is also thrown when the central unsubscribes or
    ///     subscribes again before it has confirmed.
    ///   - ``PeripheralError/Code/notAddressable`` when the Bluetooth stack can reach the central only
    ///     together with other subscribers.
    ///   - ``PeripheralError/Code/unconfirmed`` when the central has not confirmed within 30 s, or when the
    ///     stack loses the confirmation because an unbonded other central disconnects.
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
    /// The list is empty when the session is no longer valid.
    public var subscriptions: [Subscription] {
        runtime.register.subscriptions
    }

    /// Returns the subscriptions to a characteristic, in the order in which they began.
    ///
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared`` or
    ///   ``PeripheralError/Code/stopped``.
    public func subscribers<Value>(
        of characteristic: Characteristic<Value>
    ) throws(PeripheralError) -> [Subscription] {
        runtime.register.subscriptions(to: try updatableHandle(of: characteristic.declaration))
    }

    /// Returns whether any connected central has subscribed to a characteristic.
    ///
    /// The result depends on the reports of the Bluetooth stack, see ``Subscription/central``. A bonded
    /// central that has disconnected is not counted until its subscriptions resume.
    ///
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared`` or
    ///   ``PeripheralError/Code/stopped``.
    public func hasSubscribers<Value>(
        of characteristic: Characteristic<Value>
    ) throws(PeripheralError) -> Bool {
        runtime.register.hasSubscribers(try updatableHandle(of: characteristic.declaration))
    }

    /// Returns whether a central has subscribed to a characteristic.
    ///
    /// The result depends on the reports of the Bluetooth stack. If there are subscribers that the stack does
    /// not identify, the result is `true`, because the central may be one of these subscribers.
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
                    "Characteristic \(characteristic.uuid) cannot be indicated. Declare it with .indicate."
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
                + "\(characteristic). Send to all of them instead."
        )
    }
}
