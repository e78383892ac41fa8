public import PeripheralCore

/// The interface through which a program controls its peripheral during one run.
///
/// The session is valid within the body closure of ``Peripheral/run(on:logger:_:)``. After the closure
/// returns, the functions of the session throw a ``PeripheralError`` with the code
/// ``PeripheralError/Code/stopped``.
///
/// The handlers of requests can receive the session too: see <doc:SessionInHandlers>.
public struct PeripheralSession: Sendable {
    let runtime: PeripheralRuntime

    /// The events since the run began, in a service's session; `nil` in the program's session.
    private let serviceEvents: ServiceEvents?

    /// Creates the session of the program.
    init(runtime: PeripheralRuntime) {
        self.runtime = runtime
        serviceEvents = nil
    }

    /// Creates the session of a service.
    ///
    /// The events of this session are independent of the program's events, and no event is missing.
    init(ofServiceIn runtime: PeripheralRuntime) {
        self.runtime = runtime
        serviceEvents = ServiceEvents(runtime)
    }

    /// Ends the events of the service when its work is done.
    func endServiceEvents() {
        serviceEvents?.end()
    }

    /// The state of the peripheral: the radio, the registration and the advertising.
    ///
    /// ``Peripheral/states`` reports changes. While the peripheral is not published, the session continues,
    /// but has no centrals and no subscriptions. While the peripheral is not published,
    /// ``notify(_:_:)-(_,Value)`` and ``update(_:_:)`` send no values.
    public var state: PeripheralState { runtime.peripheralState.current }

    /// The events of the session, such as connections and subscriptions of centrals.
    ///
    /// Each access to `events` returns a separate sequence of the events that occur after the access. The
    /// sequence of events ends when the session ends. If a program does not consume the events, the session
    /// retains the newest 1024 events. The events about the restored state occur before the session begins.
    /// Only the first access to `events` returns a sequence that includes these events. An access by a
    /// service does not count as the first access (see ``GATTServiceDeclaration/run(in:)``).
    ///
    /// The properties ``centrals`` and ``subscriptions`` contain the current state. To observe every change,
    /// read `events` before you read ``centrals`` and ``subscriptions``.
    public var events: some AsyncSequence<SessionEvent, Never> & Sendable {
        serviceEvents?.listen() ?? runtime.listen()
    }
}

// MARK: - Centrals

extension PeripheralSession {
    /// The connected centrals, in the order in which they connected.
    ///
    /// The list contains all centrals with a connection to the adapter. The list also contains centrals that
    /// never send a request to this peripheral. The list of centrals is empty after the session ends.
    ///
    /// bluetoothd reports a connection a moment after the central knows it. To be sure that a central is in
    /// the list, read ``events``, or wait for a request of the central.
    public var centrals: [Central] {
        runtime.register.centrals
    }

    /// Returns the current connection of a central.
    ///
    /// Some data is valid only until the central disconnects. To store this data in a dictionary, use the
    /// connection as the key. For example, store a user's consent in a dictionary, with the connection as the
    /// key. After the same central reconnects, the function returns a different connection.
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
    /// - Throws: An error that the Bluetooth stack reports, or ``PeripheralError`` with one of these codes:
    ///   - ``PeripheralError/Code/disconnected`` when the central is not connected.
    ///   - ``PeripheralError/Code/connectionLost`` when the peripheral is not published.
    ///   - ``PeripheralError/Code/stopped`` when the session has ended.
    public func disconnect(_ central: Central) async throws {
        try await runtime.link().disconnect(central.id)
    }

    /// Asks a central for another timing of its connection.
    ///
    /// ```swift
    /// try await session.prefer(.lowLatency, for: central)
    /// try await session.send(Array(text.utf8), over: transfer, to: central)
    /// try await session.prefer(.lowPower, for: central)
    /// ```
    ///
    /// The function returns when the central has answered. The central decides, and it may choose yet another
    /// timing later, also at the request of another program or of the Bluetooth stack.
    /// ``Central/connectionParameters`` contains the timing in use, and ``SessionEvent/changed(_:)`` reports
    /// each change. The preference ends with the connection: a central that connects again begins with its
    /// own timing.
    ///
    /// If the calling task is cancelled, the function throws `CancellationError`, and the central can still
    /// accept the request.
    ///
    /// On BlueZ, the program needs the capability `CAP_NET_RAW`.
    ///
    /// - Returns: The timing that the central has chosen.
    /// - Throws: ``PeripheralError`` with one of these codes:
    ///   - ``PeripheralError/Code/invalidValue`` when the preference is invalid. The message contains the
    ///     rule.
    ///   - ``PeripheralError/Code/rejected`` when the central refuses, and the connection stays as it was. A
    ///     second request for a central that has not answered the first is refused, too.
    ///   - ``PeripheralError/Code/timedOut`` when the central has not chosen an interval in the range after
    ///     45 seconds.
    ///   - ``PeripheralError/Code/permissionDenied`` when the program lacks a privilege.
    ///   - ``PeripheralError/Code/notSupported`` when the backend, the central or its connection does not
    ///     support the request.
    ///   - ``PeripheralError/Code/disconnected`` when the central is not connected, or disconnects.
    ///   - ``PeripheralError/Code/connectionLost`` or ``PeripheralError/Code/stopped`` when the peripheral is
    ///     not published, or the session has ended.
    @discardableResult
    public func prefer(
        _ preference: ConnectionPreference,
        for central: Central
    ) async throws -> ConnectionParameters {
        _ = try preference.units()
        return try await runtime.link().prefer(preference, for: central.id)
    }

    /// Measures the strength of the signal that the adapter receives from a central.
    ///
    /// The strength is a rough measure of the distance. On BlueZ, the program needs a Bluetooth socket, but
    /// no privilege. If the calling task is cancelled, the function throws `CancellationError`.
    ///
    /// - Returns: The strength in dBm, usually from -100 (far) to -30 (near).
    /// - Throws: ``PeripheralError`` with one of these codes:
    ///   - ``PeripheralError/Code/permissionDenied`` when the program may not open a Bluetooth socket.
    ///   - ``PeripheralError/Code/notSupported`` when the backend or the adapter cannot measure.
    ///   - ``PeripheralError/Code/disconnected`` when the central is not connected.
    ///   - ``PeripheralError/Code/rejected`` when a measurement of the same central is in progress.
    ///   - ``PeripheralError/Code/connectionLost`` or ``PeripheralError/Code/stopped`` when the peripheral is
    ///     not published, or the session has ended.
    public func signalStrength(of central: Central) async throws -> Int {
        try await runtime.link().signalStrength(of: central.id)
    }

    /// Returns all centrals that are bonded with this device.
    ///
    /// The function also returns centrals that are not connected. All peripherals on the same device share
    /// their bonds. The function therefore also returns centrals that have bonded with the peripheral of
    /// another program.
    ///
    /// - Throws: An error that the Bluetooth stack reports, or ``PeripheralError`` with one of these codes:
    ///   - ``PeripheralError/Code/connectionLost`` when the peripheral is not published.
    ///   - ``PeripheralError/Code/stopped`` when the session has ended.
    public func bondedCentrals() async throws -> [Central] {
        try await runtime.link().bondedCentrals()
    }

    /// Removes the bond with a central and ends the connection of the central.
    ///
    /// The central must pair again to create a new bond. The function also removes the data about the central
    /// from the preserved state.
    ///
    /// - Throws: An error that the Bluetooth stack reports, or ``PeripheralError`` with one of these codes:
    ///   - ``PeripheralError/Code/unknownCentral`` when the Bluetooth stack does not know the central.
    ///   - ``PeripheralError/Code/connectionLost`` when the peripheral is not published.
    ///   - ``PeripheralError/Code/stopped`` when the session has ended.
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

// MARK: - Advertisements

extension PeripheralSession {
    /// The current advertisements of the program.
    ///
    /// The list contains the declared advertisements until the program sets other advertisements. The list of
    /// advertisements is empty after ``stopAdvertising()``.
    ///
    /// An advertisement remains in the list after its timeout. ``SessionEvent/advertisementEnded(_:)``
    /// reports the end of an advertisement.
    public var advertisements: [Advertisement] { runtime.advertising.advertisements }

    /// Replaces the advertisements.
    ///
    /// ```swift
    /// try await session.advertise(Advertisement(localName: "Lamp", manufacturerData: [0x0059: [1, 2]]))
    /// ```
    ///
    /// A new advertisement replaces the earlier advertisement at the same index. The adapter continues to
    /// send an unchanged advertisement without interruption. An unchanged advertisement starts again if its
    /// `timeout` has passed. Each unset field of a new advertisement has a default value. The same default
    /// values apply to advertisements in the declaration of a peripheral. Connected centrals stay connected
    /// while the advertisements change.
    ///
    /// The new advertisements remain active until the next change or the end of the run. A restart of the
    /// Bluetooth stack does not change the advertisements. `Advertisement.plan(for:)` reports whether an
    /// adapter can send an advertisement.
    ///
    /// The function returns when the Bluetooth stack has accepted all advertisements. If several tasks change
    /// the advertisements, the session applies one change after the other. If the calling task is cancelled
    /// during a change, the change continues.
    ///
    /// While the peripheral is not published, the function returns immediately. The new advertisements start
    /// when the peripheral is published again. ``Advertisement/whileConnected`` can delay the start of an
    /// advertisement until no central is connected. The function does not wait until a delayed advertisement
    /// starts.
    ///
    /// The Bluetooth stack determines whether a change interrupts an advertisement. In most cases, a change
    /// to an advertisement has one of these effects:
    ///
    /// - A change of the content does not interrupt the advertisement. The content of an advertisement
    ///   consists of services, manufacturer data, service data, raw data, the local name and the appearance.
    /// - A change of a property outside of the content interrupts the advertisement for a few milliseconds. A
    ///   switch between legacy and extended advertising causes the same interruption. The removal of a name
    ///   or an appearance also interrupts the advertisement. The adapter sends the unchanged advertisements
    ///   without interruption.
    ///
    /// The logger of the run receives the warnings about the new advertisements, such as a name that is
    /// shortened. A change does not repeat the warnings about the earlier advertisements.
    ///
    /// The countdown of an advertisement's `timeout` restarts in these cases:
    ///
    /// - The new value of `timeout` differs from the previous value.
    /// - The countdown has already ended.
    ///
    /// - Parameter advertisements: The new advertisements. Without arguments, the function sets the
    ///   advertisements that the peripheral declares.
    /// - Throws: The function throws one of these errors:
    ///   - ``DeclarationError`` when an advertisement is invalid or is not possible on the adapter. After a
    ///     ``DeclarationError``, all advertisements are unchanged.
    ///   - ``PeripheralError`` with the code ``PeripheralError/Code/rejected`` when the Bluetooth stack
    ///     refuses an advertisement. For example, the adapter might not have room for another advertisement.
    ///     If the Bluetooth stack refuses an advertisement, the session restores the earlier advertisements.
    ///   - ``PeripheralError`` with the code ``PeripheralError/Code/stopped`` when the session has ended.
    ///   - `CancellationError` when the task is cancelled before the change begins.
    public func advertise(_ advertisements: Advertisement...) async throws {
        try await advertise(advertisements)
    }

    /// Replaces the current advertisements with an array of new advertisements.
    ///
    /// See ``advertise(_:)-(Advertisement...)``.
    ///
    /// - Parameter advertisements: The new advertisements. If the array is empty, the function sets the
    ///   advertisements that the peripheral declares.
    /// - Throws: The function throws the same errors as ``advertise(_:)-(Advertisement...)``.
    public func advertise(_ advertisements: [Advertisement]) async throws {
        try await runtime.advertising.change { present, declared in
            present = advertisements.isEmpty ? declared : advertisements
            return Set(present.indices)
        }
    }

    /// Changes one advertisement without changing the other advertisements.
    ///
    /// ```swift
    /// try await session.changeAdvertisement { $0.manufacturerData[0x0059] = [level] }
    /// ```
    ///
    /// The change follows the rules of ``advertise(_:)-(Advertisement...)``. Several tasks can call the
    /// function at the same time. The session makes the changes one after the other, so no change is lost.
    ///
    /// - Parameters:
    ///   - index: The index of the advertisement in ``advertisements``.
    ///   - change: A closure that changes the advertisement. The function calls the closure exactly once.
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared`` when there is no
    ///   advertisement at the index, for example after ``stopAdvertising()``. The function also throws any
    ///   error that `change` throws, and the errors of ``advertise(_:)-(Advertisement...)``.
    public func changeAdvertisement(
        at index: Int = 0,
        _ change: (inout Advertisement) throws -> Void
    ) async throws {
        try await runtime.advertising.change { present, _ in
            guard present.indices.contains(index) else {
                throw PeripheralError(
                    code: .notDeclared,
                    message: "There is no advertisement at index \(index). The number of advertisements "
                        + "is \(present.count). "
                        + "Add an advertisement with advertise(_:)."
                )
            }
            try change(&present[index])
            return [index]
        }
    }

    /// Stops all advertising.
    ///
    /// While advertising is stopped, no central can discover the peripheral or connect to the peripheral.
    /// Centrals that were connected earlier cannot reconnect while advertising is stopped. The end of
    /// advertising does not affect connected centrals. ``advertise(_:)-(Advertisement...)`` starts
    /// advertising again.
    ///
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/stopped`` if the session has ended,
    ///   or with another code if the Bluetooth stack reports an error. `CancellationError` when the task is
    ///   cancelled before the change begins.
    public func stopAdvertising() async throws {
        try await runtime.advertising.change { present, _ in
            present = []
            return []
        }
    }
}

// MARK: - Restoration

extension PeripheralSession {
    /// The state that the session restored when the run began.
    ///
    /// The state contains the current status of each restored subscriber.
    ///
    /// The property is `nil` if no state was preserved, or if the peripheral has no restoration identifier.
    public var restored: RestoredState? { runtime.preservation?.restored }

    /// Saves all changes of the state, and waits until the save is complete.
    ///
    /// The duration of a save depends on the store. If an earlier save has just begun, the function first
    /// waits for up to half a second. The session also saves changes automatically, after a short delay. An
    /// automatic save can contain several changes. If the calling task is cancelled during a save, the save
    /// continues.
    ///
    /// - Throws: ``RestorationError`` when the session cannot save the state. ``PeripheralError`` with the
    ///   code ``PeripheralError/Code/restorationUnavailable`` when the peripheral has no restoration
    ///   identifier.
    public func preserve() async throws {
        guard let preservation = runtime.preservation else { throw PeripheralError.noRestorationIdentifier }
        try await preservation.flush()
    }

    /// The statistics of this run.
    ///
    /// The statistics contain the number of saves, and the number of preserved updates that were dropped.
    ///
    /// Frequent saves shorten the life of flash memory.
    public var restorationStatistics: RestorationStatistics {
        runtime.preservation?.statistics ?? RestorationStatistics()
    }

    /// Returns the value of a characteristic that is declared with ``PersistentValue``.
    ///
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared`` or
    ///   ``PeripheralError/Code/stopped``.
    public func value<Value>(of characteristic: Characteristic<Value>) throws -> Value {
        let handle = try persistentHandle(of: characteristic)
        return try Value(gattBytes: runtime.persistentValues[handle] ?? [])
    }

    /// Returns a sequence of the present value of a characteristic and all later values.
    ///
    /// ```swift
    /// for await name in try session.values(of: deviceName) {
    ///     try await session.changeAdvertisement { $0.localName = name }
    /// }
    /// ```
    ///
    /// The sequence contains a value as soon as centrals read it, regardless of whether a central or the
    /// program has changed it. A write of the same value is no change. If the program does not read the
    /// sequence, it retains the newest 64 values. Each call returns a separate sequence. The sequence ends
    /// when the service of the characteristic is removed, or when the session ends.
    ///
    /// - Parameter characteristic: A characteristic that is declared with ``PersistentValue``.
    /// - Returns: The values.
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared`` or
    ///   ``PeripheralError/Code/stopped``.
    public func values<Value>(
        of characteristic: Characteristic<Value>
    ) throws -> some AsyncSequence<Value, Never> & Sendable {
        // The framework stores only values that can be decoded.
        runtime.persistentValues.changes(of: try persistentHandle(of: characteristic))
            .compactMap { try? Value(gattBytes: $0) }
    }

    /// Changes a persistent value and sends the new value to all subscribers.
    ///
    /// The change takes effect immediately for centrals that read the characteristic. If the characteristic
    /// is declared with ``WriteDurability/durable``, the function returns after the value is saved. The
    /// session sends the value according to the rules of ``notify(_:_:)-(_,Value)``.
    ///
    /// With ``UpdatePolicy/durable``, one save contains both the new value and the update for the
    /// subscribers. The save also contains the values of all earlier calls to ``update(_:_:)``. With
    /// ``UpdatePolicy/durable``, the function waits for room in the queue of each connected subscriber, and
    /// then changes the value.
    ///
    /// - Throws: The function throws one of these errors:
    ///   - ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared``,
    ///     ``PeripheralError/Code/invalidValue`` or ``PeripheralError/Code/stopped``.
    ///   - ``RestorationError`` when the attempt to save the value fails, for example because the disk is
    ///     full. Centrals read the new value nevertheless. The session tries to save the value again, and
    ///     then sends the value. If the program ends before, the next run has the earlier value.
    ///   - ``RestorationError`` when the session cannot save the updates in a full update queue. After this
    ///     error, the value is unchanged.
    ///   - `CancellationError`.
    public func set<Value>(_ characteristic: Characteristic<Value>, to value: Value) async throws {
        let handle = try persistentHandle(of: characteristic)
        let bytes = try characteristic.declaration.checkedForUpdate(value.gattBytes)
        let isPosted = try await runtime.persistentValues.set(bytes, of: handle)
        guard characteristic.properties.allowsSubscription, !isPosted else { return }
        try await runtime.notify(handle, bytes)
        runtime.persistentValues.resend(handle, unless: bytes)
    }

    private func persistentHandle<Value>(
        of characteristic: Characteristic<Value>
    ) throws(PeripheralError) -> AttributeHandle {
        try runtime.checkIsRunning()
        let handle = try runtime.valueHandle(of: characteristic.declaration)
        guard runtime.persistentValues[handle] != nil else {
            throw PeripheralError(
                code: .notDeclared,
                message: "The value of characteristic \(characteristic.uuid) is not persistent. "
                    + "Declare it with PersistentValue."
            )
        }
        return handle
    }
}

/// Statistics about the preserved state: the number of saves, and the number of dropped updates.
public struct RestorationStatistics: Hashable, Sendable {
    /// The number of times that the session wrote the state to the store.
    public internal(set) var saves = 0

    /// The number of failed saves.
    public internal(set) var failures = 0

    /// The number of preserved updates that the session dropped.
    ///
    /// The session drops updates to make room for newer updates (see ``UpdatePolicy/durable(beyond:)``).
    public internal(set) var droppedUpdates = 0
}
