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
}

/// The way from a running ``Peripheral`` to the backend that serves it.
public protocol BackendLink: Sendable {
    /// Sends a value to the centrals that have subscribed to a characteristic.
    ///
    /// Updates are sent in the order in which the calls began. The call suspends while the backend has as
    /// much to send as its bound allows; a cancelled call that has been suspended sends nothing.
    ///
    /// - Throws: ``PeripheralError`` with the code `stopped` when the peripheral is no longer published, or a
    ///   `CancellationError`.
    func send(_ update: Update) async throws

    /// Begins to stop: no new requests are taken, those in progress are answered, then
    /// ``PeripheralBackend/serve(_:for:)`` returns.
    ///
    /// Later calls have no effect.
    func stop()
}
