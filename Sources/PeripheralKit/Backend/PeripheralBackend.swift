/// A Bluetooth stack that a ``Peripheral`` can run on.
///
/// PeripheralBlueZ provides a backend for BlueZ. PeripheralTesting provides a backend in memory for tests. A
/// backend puts attributes on the air. The ``PeripheralHost`` of the backend provides the values of these
/// attributes, and decides how and when requests are answered.
public protocol PeripheralBackend: Sendable {
    /// Publishes a peripheral and serves it until the backend is stopped.
    ///
    /// After the database is registered and the advertisement is on the air, the backend reports
    /// ``BackendEvent/published(_:)`` with its link. From then on, the backend passes each request of a
    /// central to `host`, and reports further events to `host`. After ``BackendLink/stop()``, the backend
    /// withdraws the advertisement, then withdraws the database, and returns.
    ///
    /// If the calling task is cancelled, the backend also withdraws the advertisement and the database. In
    /// this case, requests in progress are cancelled instead of completed.
    ///
    /// - Parameters:
    ///   - publication: The validated publication.
    ///   - host: Answers the requests. All functions of the host can be called from any thread.
    /// - Throws: ``PeripheralError`` if the peripheral cannot be published, or if the backend can no longer
    ///   serve it.
    func serve(_ publication: BackendPublication, for host: any PeripheralHost) async throws

    /// The store for a peripheral with a restoration identifier, if the program passes no store.
    ///
    /// The default is `nil`. In this case, the program has to pass a store.
    ///
    /// - Throws: ``RestorationError`` if this system has no directory for such a store. The message of the
    ///   error describes the remedy.
    var restorationStore: (any RestorationStore)? { get throws(RestorationError) }
}

extension PeripheralBackend {
    /// The backend provides no store.
    public var restorationStore: (any RestorationStore)? { nil }
}

/// The link from a running ``Peripheral`` to the backend that serves it.
public protocol BackendLink: Sendable {
    /// Submits an update, which is sent after all earlier updates for the same recipients.
    ///
    /// The call returns at once. The host can submit an update while it handles an event.
    /// ``BackendEvent/updateEnded(_:_:)`` reports the end of the update, possibly before this call returns.
    /// An update ends when it has left the device, as far as the stack reports completed updates. An update
    /// that awaits confirmation ends when all recipients have confirmed it.
    ///
    /// At most the following updates are submitted at the same time:
    ///
    /// - For each recipient, ``PublishedPeripheral/window`` updates that have not ended and do not await
    ///   confirmation.
    /// - For each characteristic, 2 more updates that are for all subscribers together.
    /// - For each recipient, one update that awaits confirmation.
    ///
    /// An update is for all subscribers together only if the update is empty, or if one of the subscribers
    /// cannot be reached alone.
    func submit(_ update: BackendUpdate)

    /// Submits several updates, in order, each like ``submit(_:)``.
    ///
    /// The default implementation submits the updates one after the other.
    func submit(all updates: [BackendUpdate])

    /// Ends the wait for the confirmation of an update.
    ///
    /// The end of the update is reported like the end of any other update, but not at once. The end is
    /// reported as soon as a late confirmation cannot count for another update. Until then, no other update
    /// that awaits confirmation is submitted for the same recipients. The call has no effect on an update
    /// that has ended.
    func abandon(_ update: BackendUpdate.ID)

    /// Waits until the stack has forwarded all answers that the host delivered before this call.
    ///
    /// Updates that are submitted afterwards follow these answers. A backend that keeps answers and updates
    /// in order can use the default implementation.
    func untilAnswersHaveLeft() async

    /// Waits until ended updates for a central precede every update that is submitted to that central later.
    ///
    /// The wait applies to updates of all characteristics that ended before this call. The default
    /// implementation is enough if the updates of a backend end after they have left the device. It is also
    /// enough if the backend keeps all updates in order.
    func untilUpdatesHaveLeft(for central: Central.ID) async

    /// Ends the connection of a central.
    ///
    /// - Throws: ``PeripheralError`` with the code `disconnected` if the central is not connected; otherwise
    ///   ``PeripheralError`` with the reason of the stack.
    func disconnect(_ central: Central.ID) async throws

    /// Returns the centrals that are bonded with this device, connected or not.
    ///
    /// - Throws: ``PeripheralError`` with the reason of the stack.
    func bondedCentrals() async throws -> [Central]

    /// Removes the bond of a central and disconnects the central.
    ///
    /// Afterwards, the central has to pair again.
    ///
    /// - Throws: ``PeripheralError`` with the code `unknownCentral` if the stack does not know the central;
    ///   otherwise ``PeripheralError`` with the reason of the stack.
    func forget(_ central: Central.ID) async throws

    /// Replaces the advertisements.
    ///
    /// Advertisements that do not change stay on the air. The host can also call this function while the
    /// peripheral is off the air. In this case, the new advertisements are sent from the next publication on.
    /// The host makes only one call at a time.
    ///
    /// - Parameters:
    ///   - advertisements: The new advertisements, which replace ``BackendPublication/advertisements`` or the
    ///     advertisements of the previous call. The new advertisements are validated, and include the data
    ///     that is derived from the services. Each new advertisement replaces the earlier advertisement at
    ///     the same index.
    ///   - restarted: The indices of the advertisements to restart if their time is over.
    /// - Throws: `DeclarationError` if an advertisement is not possible on this stack; ``PeripheralError`` if
    ///   the stack refuses an advertisement. If the call throws, the earlier advertisements are on the air
    ///   again.
    func advertise(_ advertisements: [Advertisement], restarting restarted: Set<Int>) async throws

    /// Stops the backend.
    ///
    /// The backend answers requests in progress and accepts no new requests.
    ///
    /// Afterwards, ``PeripheralBackend/serve(_:for:)`` returns. Further calls of this function have no
    /// effect.
    func stop()
}

extension BackendLink {
    /// Submits the updates one after the other.
    public func submit(all updates: [BackendUpdate]) {
        for update in updates { submit(update) }
    }

    /// Returns at once.
    public func untilAnswersHaveLeft() async {}

    /// Returns at once.
    public func untilUpdatesHaveLeft(for central: Central.ID) async {}
}
