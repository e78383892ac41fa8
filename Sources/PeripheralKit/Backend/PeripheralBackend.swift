/// A Bluetooth stack that a ``Peripheral`` can run on.
///
/// PeripheralBlueZ provides a backend, and PeripheralTesting one in memory for tests. A backend puts
/// attributes on the air. The ``PeripheralHost`` that it serves decides about their values, and how and when
/// requests are answered.
public protocol PeripheralBackend: Sendable {
    /// Publishes a peripheral and serves it until it is stopped.
    ///
    /// Once the database is registered and the advertisement is on the air, the backend reports
    /// ``BackendEvent/published(_:)`` with its link. It then passes each request of a central to `host`, and
    /// reports other events. After ``BackendLink/stop()``, it withdraws the advertisement, then the database,
    /// and returns.
    ///
    /// Cancelling the calling task also withdraws both. Requests in progress are then cancelled instead of
    /// completed.
    ///
    /// - Parameters:
    ///   - publication: The validated publication.
    ///   - host: Answers the requests. All its functions can be called from any thread.
    /// - Throws: ``PeripheralError`` if the peripheral cannot be published, or can no longer be served.
    func serve(_ publication: BackendPublication, for host: any PeripheralHost) async throws

    /// The store for a peripheral that has a restoration identifier but is given no store.
    ///
    /// If it is `nil`, the default, the program has to pass a store.
    ///
    /// - Throws: ``RestorationError`` if this system has no place for such a store. Its message says what to
    ///   do.
    var restorationStore: (any RestorationStore)? { get throws(RestorationError) }
}

extension PeripheralBackend {
    /// No store.
    public var restorationStore: (any RestorationStore)? { nil }
}

/// The link from a running ``Peripheral`` to the backend that serves it.
public protocol BackendLink: Sendable {
    /// Submits an update, to send after all earlier ones for the same recipients.
    ///
    /// The call returns at once. It can be made while the host handles an event.
    /// ``BackendEvent/updateEnded(_:_:)`` reports the end of the update, possibly before this call returns.
    /// An update ends when it has left the device, as far as the stack reports this. An update that awaits
    /// confirmation ends when all recipients have confirmed it.
    ///
    /// These updates are submitted at the same time, at most:
    ///
    /// - For each recipient, ``PublishedPeripheral/window`` updates that have not ended and do not await
    ///   confirmation.
    /// - For each characteristic, 2 more that are for all subscribers together.
    /// - For each recipient, one update that awaits confirmation.
    ///
    /// An update is for all subscribers together only if it is empty or if one of them cannot be reached
    /// alone.
    func submit(_ update: BackendUpdate)

    /// Submits several updates, in order, each as by ``submit(_:)``.
    ///
    /// The default submits one after the other.
    func submit(all updates: [BackendUpdate])

    /// Ends the wait for the confirmation of an update.
    ///
    /// The end of the update is reported like any other, but not at once. It is reported only when a late
    /// confirmation can no longer be taken for that of another update. Until then, no other update that
    /// awaits confirmation is submitted for the same recipients. The call has no effect on an update that has
    /// ended.
    func abandon(_ update: BackendUpdate.ID)

    /// Waits until the stack has forwarded the answers that were given before this call.
    ///
    /// Updates submitted afterwards follow these answers. A backend that keeps answers and updates in order
    /// can use the default.
    func untilAnswersHaveLeft() async

    /// Waits until ended updates for a central precede every update submitted to it later.
    ///
    /// This applies to the updates that have ended before this call, of all characteristics. A backend can
    /// use the default if its updates end when they have left, or if it keeps all updates in order.
    func untilUpdatesHaveLeft(for central: Central.ID) async

    /// Ends the connection of a central.
    ///
    /// - Throws: ``PeripheralError`` with the code `disconnected` if the central is not connected, or with
    ///   the reason of the stack.
    func disconnect(_ central: Central.ID) async throws

    /// Returns the centrals that are bonded with this device, connected or not.
    ///
    /// - Throws: ``PeripheralError`` with the reason of the stack.
    func bondedCentrals() async throws -> [Central]

    /// Removes the bond of a central, which disconnects it. The central has to pair again.
    ///
    /// - Throws: ``PeripheralError`` with the code `unknownCentral` if the stack does not know the central,
    ///   or with the reason of the stack.
    func forget(_ central: Central.ID) async throws

    /// Replaces what is advertised.
    ///
    /// Advertisements that do not change stay on the air. The call can also be made while the peripheral is
    /// off the air. It then determines what is advertised at the next publication, and at every later one.
    /// Only one call is made at a time.
    ///
    /// - Parameters:
    ///   - advertisements: What to advertise, in place of ``BackendPublication/advertisements`` or of the
    ///     previous call's. They are validated, and everything that is derived from the services is filled
    ///     in. The order determines which advertisement replaces which.
    ///   - restarted: The indices of the advertisements to restart if their time is over.
    /// - Throws: `DeclarationError` if an advertisement is not possible on this stack, or ``PeripheralError``
    ///   if the stack refuses one. The earlier advertisements are then on the air again.
    func advertise(_ advertisements: [Advertisement], restarting restarted: Set<Int>) async throws

    /// Stops the backend: requests in progress are answered, and no new ones are accepted.
    ///
    /// ``PeripheralBackend/serve(_:for:)`` returns afterwards. Later calls have no effect.
    func stop()
}

extension BackendLink {
    /// Submits one after the other.
    public func submit(all updates: [BackendUpdate]) {
        for update in updates { submit(update) }
    }

    /// Returns at once.
    public func untilAnswersHaveLeft() async {}

    /// Returns at once.
    public func untilUpdatesHaveLeft(for central: Central.ID) async {}
}
