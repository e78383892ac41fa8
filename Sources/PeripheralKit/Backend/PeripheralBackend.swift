/// A Bluetooth stack that a ``Peripheral`` can run on: the only seam between this module and the outside.
///
/// BlueZ is one backend, the one in memory for tests another. A backend knows how attributes get on the air;
/// what they hold, who may be answered and when, is decided by the ``PeripheralHost`` that it serves.
public protocol PeripheralBackend: Sendable {
    /// Publishes a peripheral, and serves it until it is told to stop.
    ///
    /// Once the database is registered and the advertisement is on the air, the backend reports
    /// ``BackendEvent/published(_:)`` with a link for the way back. It then asks `host` to answer each request
    /// of a central, and reports what else happens. It returns when ``BackendLink/stop()`` was called and the
    /// advertisement, then the database, are withdrawn.
    ///
    /// Cancelling the calling task withdraws both as well; requests in progress are then cancelled instead of
    /// completed.
    ///
    /// - Parameters:
    ///   - publication: What to publish; it has been validated.
    ///   - host: Who answers the requests. All its functions may be called from any thread.
    /// - Throws: ``PeripheralError`` when the peripheral cannot be published, or can no longer be served.
    func serve(_ publication: Publication, for host: any PeripheralHost) async throws

    /// Where the state of a peripheral is preserved that has a restoration identifier and is given no store.
    ///
    /// `nil`, as where a backend does not say otherwise, leaves it to the program.
    ///
    /// - Throws: ``RestorationError`` when there is no such place on this system, in words that say what to do.
    var restorationStore: (any RestorationStore)? { get throws(RestorationError) }
}

extension PeripheralBackend {
    /// Nowhere.
    public var restorationStore: (any RestorationStore)? { nil }
}

/// The way from a running ``Peripheral`` to the backend that serves it.
public protocol BackendLink: Sendable {
    /// Takes an update, to be sent after those that were submitted before to the same recipients.
    ///
    /// Returns at once, and may be called while the host is told of an event. How the update ends is reported by
    /// ``BackendEvent/updateEnded(_:_:)``, possibly before this function returns: when it has left this device as far as the stack tells or, where it awaits confirmation, when
    /// all recipients have confirmed. At most ``PublishedPeripheral/window`` updates for each recipient are submitted at a
    /// time that await no confirmation and have not ended, and 2 more of each characteristic that are for all subscribers
    /// together; of those that do await one, one. An update is for all subscribers together only when it is empty, or when
    /// one of them cannot be reached alone.
    func submit(_ update: Update)

    /// Sends several updates, in this order, each as ``submit(_:)`` does.
    ///
    /// Submits one after the other, unless the backend does better.
    func submit(all updates: [Update])

    /// Ends an update for whose confirmation nobody waits any longer.
    ///
    /// It is reported as any other end, but only when no confirmation can come any more that could be taken for that of
    /// another update; until then, no other is submitted that awaits confirmation by the same recipients. Without
    /// effect on an update that has ended.
    func abandon(_ update: Update.ID)

    /// Returns when the stack has passed on the answers to requests that were given before this call.
    ///
    /// What is submitted then comes after them. A backend on which answers and updates keep their order anyway needs
    /// nothing of its own.
    func untilAnswersHaveLeft() async

    /// Returns when the updates for a central that have ended before this call are ahead of whatever is submitted to it
    /// after, of any characteristic.
    ///
    /// A backend whose updates end when they have left, or that keeps the order of all, needs nothing of its own.
    func untilUpdatesHaveLeft(for central: Central.ID) async

    /// Ends the connection of a central.
    ///
    /// - Throws: ``PeripheralError`` with the code `disconnected` when it is not connected, or with the reason of
    ///   the stack.
    func disconnect(_ central: Central.ID) async throws

    /// The centrals that are bonded with this device, connected or not.
    ///
    /// - Throws: ``PeripheralError`` with the reason of the stack.
    func bondedCentrals() async throws -> [Central]

    /// Removes the bond of a central, which disconnects it; it has to pair again.
    ///
    /// - Throws: ``PeripheralError`` with the code `unknownCentral` when the stack does not know it, or with the reason
    ///   of the stack.
    func forget(_ central: Central.ID) async throws

    /// Advertises something else from now on.
    ///
    /// Those that stay as they are stay on the air. It may be called while the peripheral is off the air, and then tells
    /// what is advertised when it comes back; so does every later publication. One call is made at a time.
    ///
    /// - Parameters:
    ///   - advertisements: What to advertise, in place of ``Publication/advertisements`` or of what was demanded last;
    ///     validated, with everything that is derived from the services filled in. The order tells which replaces which.
    ///   - restarted: The places of those that begin anew if their time is over.
    /// - Throws: `DeclarationError` when an advertisement is not possible on this stack, or ``PeripheralError`` when
    ///   the stack refuses one; what was advertised before is advertised again then.
    func advertise(_ advertisements: [Advertisement], restarting restarted: Set<Int>) async throws

    /// Begins to stop: no new requests are taken, those in progress are answered, then
    /// ``PeripheralBackend/serve(_:for:)`` returns.
    ///
    /// Later calls have no effect.
    func stop()
}

extension BackendLink {
    /// Submits one after the other.
    public func submit(all updates: [Update]) {
        for update in updates { submit(update) }
    }

    /// Returns at once.
    public func untilAnswersHaveLeft() async {}

    /// Returns at once.
    public func untilUpdatesHaveLeft(for central: Central.ID) async {}
}
