public import PeripheralCore

/// A Bluetooth stack that a ``Peripheral`` can run on.
///
/// A backend publishes the attributes of a peripheral over Bluetooth. The ``PeripheralHost`` provides the
/// values of the attributes and determines the answers to requests. The module `PeripheralTesting` provides
/// an in-memory backend for tests.
public protocol PeripheralBackend: Sendable {
    /// Publishes a peripheral and serves it until the backend is stopped.
    ///
    /// First, the backend registers the GATT database and starts the advertisement. Then the backend reports
    /// ``BackendEvent/published(_:)``, which contains the link to the backend. After
    /// ``BackendEvent/published(_:)``, the backend passes each request from a central to `host`, and reports
    /// further events to `host`. After a call to ``BackendLink/stop()``, the backend withdraws the
    /// advertisement and the GATT database, and `serve(_:for:)` returns.
    ///
    /// If the calling task is cancelled, the backend withdraws the advertisement and the GATT database.
    /// Cancellation of the calling task cancels all requests in progress. The backend does not complete the
    /// cancelled requests.
    ///
    /// - Parameters:
    ///   - publication: The validated publication.
    ///   - host: The host, which answers the requests. The backend can call every function of `host` from any
    ///     thread.
    /// - Throws: ``PeripheralError`` if the backend cannot publish the peripheral, or if the backend can no
    ///   longer serve the peripheral.
    func serve(_ publication: BackendPublication, for host: any PeripheralHost) async throws

    /// The store for a peripheral with a restoration identifier, if the program passes no store.
    ///
    /// The default value is `nil`. If the value is `nil`, the program must pass a store to `run`.
    ///
    /// - Throws: ``RestorationError`` if the system has no directory for the store. The message of the error
    ///   describes the remedy.
    var restorationStore: (any RestorationStore)? { get throws(RestorationError) }

    /// Examines whether the Bluetooth stack is available, before the framework restores a peripheral.
    ///
    /// The framework calls this function before it opens the store and before it calls `onRestore`. An error
    /// ends the run. A backend that waits for its stack returns instead. `serve(_:for:)` still reports what
    /// this function does not examine. The default implementation does nothing.
    ///
    /// - Throws: ``PeripheralError`` if `serve(_:for:)` would end with this error.
    func checkAvailability() async throws
}

extension PeripheralBackend {
    /// Returns at once, and examines nothing.
    public func checkAvailability() async throws {}

    /// The default value, which is `nil`.
    ///
    /// A backend that does not implement this property provides no store.
    public var restorationStore: (any RestorationStore)? { nil }
}

/// The interface that a backend provides to the running ``Peripheral``.
public protocol BackendLink: Sendable {
    /// Submits an update to the backend.
    ///
    /// The backend sends the update after all earlier updates for the same recipients.
    ///
    /// `submit(_:)` returns at once. The host can submit an update while it handles an event.
    /// ``BackendEvent/updateEnded(_:_:)`` reports the end of the update, possibly before `submit(_:)`
    /// returns. An update ends when it has left the device, according to the reports of the stack. An update
    /// that awaits confirmation ends when all recipients have confirmed it.
    ///
    /// The number of submitted updates has these limits:
    ///
    /// - At most ``PublishedPeripheral/window`` updates are in flight to each recipient, not counting updates
    ///   that await confirmation. The event ``BackendEvent/windowChanged(_:_:)`` reduces this number for one
    ///   recipient.
    /// - For each characteristic, the host submits at most 2 additional updates for all subscribers together.
    ///   For each recipient, the host submits at most 2 additional updates for the recipient alone.
    /// - For each recipient, the host submits at most one update at a time that awaits confirmation.
    ///
    /// An update is for all subscribers together only if the update is empty, or if the stack cannot reach
    /// one of the subscribers alone.
    func submit(_ update: BackendUpdate)

    /// Submits several updates in order.
    ///
    /// The default implementation calls ``submit(_:)`` for each update.
    func submit(all updates: [BackendUpdate])

    /// Ends the wait for the confirmation of an update.
    ///
    /// The backend reports the end of the update with ``BackendEvent/updateEnded(_:_:)``, but not at once. It
    /// reports the end as soon as a late confirmation can no longer be mistaken for the confirmation of
    /// another update. For the same recipients, the host submits another update that awaits confirmation
    /// only after this end. `giveUp(_:)` has no effect on an update that has ended.
    func giveUp(_ update: BackendUpdate.ID)

    /// Waits until the stack has forwarded all answers that the host delivered before this call.
    ///
    /// The stack forwards these answers before it sends an update that the host submits after this call. A
    /// backend that keeps answers and updates in order can use the default implementation.
    func untilAnswersAreForwarded() async

    /// Waits until later updates for a central can no longer overtake the ended updates.
    ///
    /// The call waits for all updates that ended before the call, of any characteristic. A backend can use
    /// the default implementation if its updates end after they have left the device. A backend can also use
    /// the default implementation if it keeps all updates in order.
    func untilUpdatesAreForwarded(for central: Central.ID) async

    /// Ends the connection of a central.
    ///
    /// - Throws: ``PeripheralError`` with the code `disconnected` if the central is not connected.
    ///   ``PeripheralError`` with the stack's reason if the stack refuses the request.
    func disconnect(_ central: Central.ID) async throws

    /// Asks a central for another timing of its connection.
    ///
    /// The host has validated the preference. The backend reports the new timing with
    /// ``BackendEvent/connected(_:)``. The default implementation throws ``PeripheralError``.
    ///
    /// - Returns: The timing that the central has chosen.
    /// - Throws: ``PeripheralError`` with the code `disconnected` if the central is not connected, or
    ///   `rejected` if the central refuses.
    func prefer(
        _ preference: ConnectionPreference,
        for central: Central.ID
    ) async throws -> ConnectionParameters

    /// Measures the strength of a central's signal in dBm.
    ///
    /// The default implementation throws ``PeripheralError``.
    ///
    /// - Throws: ``PeripheralError`` with the code `disconnected` if the central is not connected.
    func signalStrength(of central: Central.ID) async throws -> Int

    /// Returns the connected and disconnected centrals that are bonded with the device.
    ///
    /// - Throws: ``PeripheralError`` with the stack's reason if the stack refuses the request.
    func bondedCentrals() async throws -> [Central]

    /// Removes the bond of a central and disconnects the central.
    ///
    /// After this call, the central must pair again.
    ///
    /// - Throws: ``PeripheralError`` with the code `unknownCentral` if the stack does not know the central.
    ///   ``PeripheralError`` with the stack's reason if the stack refuses the request.
    func forget(_ central: Central.ID) async throws

    /// Applies a change of ``PeripheralHost/allowsPairing``.
    ///
    /// The call returns when the stack lets centrals pair, or refuses to pair. The backend also applies the
    /// property whenever it publishes the peripheral. The default implementation does nothing.
    ///
    /// - Throws: ``PeripheralError`` with the stack's reason if the stack refuses the request.
    func pairingAllowanceChanged() async throws

    /// Replaces the advertisements of the peripheral.
    ///
    /// Advertisements that do not change stay on the air. The host can also call this function while the
    /// peripheral is off the air. If the peripheral is off the air, the new advertisements start with the
    /// next publication. The host makes only one call of `advertise(_:restarting:)` at a time.
    ///
    /// - Parameters:
    ///   - advertisements: The new advertisements, which replace ``BackendPublication/advertisements`` or the
    ///     advertisements of the previous call. The new advertisements are validated, and include the data
    ///     that is derived from the services. Each new advertisement replaces the earlier advertisement at
    ///     the same index.
    ///   - restarted: The indices of the advertisements that the backend restarts if their timeout has
    ///     passed.
    /// - Throws: `DeclarationError` if the stack does not support an advertisement. ``PeripheralError`` if
    ///   the stack refuses an advertisement. If `advertise(_:restarting:)` throws, the earlier advertisements
    ///   are on the air again.
    func advertise(_ advertisements: [Advertisement], restarting restarted: Set<Int>) async throws

    /// Registers further services.
    ///
    /// The call returns when centrals can discover the services. While the peripheral is off the air, the
    /// call returns when the services are certain to follow with the next publication. The backend registers
    /// added services again after each loss, until they are removed. The host makes only one call of
    /// `add(_:)` or `remove(_:)` at a time. The default implementation throws ``PeripheralError``.
    ///
    /// - Parameter services: The services.
    /// - Throws: `DeclarationError` if the stack does not support the services. ``PeripheralError`` if the
    ///   stack refuses the services. If `add(_:)` throws, nothing has changed.
    func add(_ services: BackendServices) async throws

    /// Examines services that will replace others, and changes nothing.
    ///
    /// If the new services need the handles of the earlier services, the host removes the earlier services
    /// before it calls ``add(_:)``. Before that, it calls `examine(_:)`, so that services that the stack does
    /// not support are refused first. The default implementation accepts all services.
    ///
    /// - Parameter services: The new services.
    /// - Throws: `DeclarationError` if the stack does not support the services. ``PeripheralError`` if the
    ///   handles of the services belong to another program.
    func examine(_ services: BackendServices) throws

    /// Removes services.
    ///
    /// Before the backend removes a service, it waits until no central has an unconfirmed indication of the
    /// service. If a central does not confirm in time, the backend disconnects the central. The call returns
    /// when centrals can no longer discover the services. A service that includes another service is removed
    /// with it, or before it. The backend reports the end of each update of the services, but it need not
    /// report the end of the subscriptions. The default implementation throws ``PeripheralError``.
    ///
    /// - Parameter services: The services, each by the handle of its declaration in its table.
    /// - Throws: ``PeripheralError`` if the backend has stopped.
    func remove(_ services: [AttributeHandle]) async throws

    /// Stops the backend.
    ///
    /// The stopped backend answers requests in progress and accepts no new requests.
    ///
    /// After the backend has stopped, ``PeripheralBackend/serve(_:for:)`` returns. Further calls of `stop()`
    /// have no effect.
    func stop()
}

extension BackendLink {
    /// Throws ``PeripheralError``, because a backend that does not implement this function cannot add
    /// services.
    public func add(_ services: BackendServices) async throws { throw PeripheralError.fixedServices }

    /// Accepts all services.
    public func examine(_ services: BackendServices) throws {}

    /// Throws ``PeripheralError``, because a backend that does not implement this function cannot remove
    /// services.
    public func remove(_ services: [AttributeHandle]) async throws { throw PeripheralError.fixedServices }

    /// Does nothing, because the host refuses the questions of the stack.
    public func pairingAllowanceChanged() async throws {}

    /// Throws ``PeripheralError``, because the timing of a connection is not every backend's to change.
    public func prefer(
        _ preference: ConnectionPreference,
        for central: Central.ID
    ) async throws -> ConnectionParameters {
        throw PeripheralError.notSupported
    }

    /// Throws ``PeripheralError``, because not every backend can measure a signal.
    public func signalStrength(of central: Central.ID) async throws -> Int {
        throw PeripheralError.notSupported
    }

    /// Submits the updates in the array one after another.
    public func submit(all updates: [BackendUpdate]) {
        for update in updates { submit(update) }
    }

    /// Returns at once, without waiting.
    public func untilAnswersAreForwarded() async {}

    /// Returns at once, without waiting.
    public func untilUpdatesAreForwarded(for central: Central.ID) async {}
}
