package import PeripheralCore
package import PeripheralKit

/// The source of an application's attributes on a ``VirtualGATTServer``.
///
/// Requests use the handles of the application's own table, not those on the air. Each request runs in its
/// own task. bluetoothd waits 5 seconds for an answer; a provider that may take longer has to enforce this
/// limit itself.
package protocol VirtualAttributeProvider: Sendable {
    /// Reads an attribute from an offset on.
    func read(_ request: BackendReadRequest) async -> Result<[UInt8], ATTError>

    /// Writes an attribute.
    ///
    /// - Parameters:
    ///   - request: The write request.
    ///   - withResponse: Whether the central, or the server on its behalf, waits for the outcome. If not, the
    ///     result is ignored.
    /// - Returns: Success, or the error with which the central is refused.
    func write(_ request: BackendWriteRequest, withResponse: Bool) async -> Result<Void, ATTError>

    /// Authorizes a central to prepare writes of an attribute that requires authorization.
    ///
    /// - Parameters:
    ///   - request: The attribute, the offset and the central; there is no value yet.
    ///   - withResponse: Whether the server waits for the outcome. If not, the result is ignored, and the
    ///     next part asks again.
    /// - Returns: Success, which is valid until the prepared writes are executed, or the error with which the
    ///   central is refused.
    func authorizeWrite(_ request: BackendWriteRequest, withResponse: Bool) async -> Result<Void, ATTError>

    /// Reports that the client characteristic configuration of a central has changed.
    ///
    /// The server calls this with its lock held, so that changes are reported in order. The method must be
    /// quick and must not call the server.
    func subscriptionChanged(_ change: SubscriptionChange)

    /// Reports that all changes caused by the end of a connection or a bond have been reported.
    ///
    /// The server calls this with its lock held, like ``subscriptionChanged(_:)``.
    func subscriptionsEnded()

    /// Reports that a central has confirmed an indication.
    ///
    /// The server calls this with its lock held, like ``subscriptionChanged(_:)``.
    func indicationConfirmed(_ characteristic: AttributeHandle, by central: Central)
}

extension VirtualAttributeProvider {
    /// Does nothing.
    package func subscriptionsEnded() {}

    /// Authorizes all writes.
    package func authorizeWrite(_ request: BackendWriteRequest, withResponse: Bool) async -> Result<
        Void, ATTError
    > {
        .success(())
    }
}

/// A change of a central's client characteristic configuration.
package struct SubscriptionChange: Hashable, Sendable {
    /// The cause of a change.
    package enum Cause: Hashable, Sendable {
        /// The central has written the configuration.
        case written
        /// The central has disconnected, and the server has removed the central's configuration.
        case ended
        /// The bonded central has disconnected, and the server has preserved the central's configuration.
        ///
        /// The real bluetoothd does not notify programs when a subscription is suspended.
        case suspended
        /// The bonded central has reconnected.
        ///
        /// The real bluetoothd does not notify programs when a subscription resumes.
        case resumed
    }

    /// The characteristic, by its value handle in the application's own table.
    package var characteristic: AttributeHandle
    package var central: Central
    /// The configuration before the change: 0, 1 for notifications, 2 for indications.
    package var from: UInt16
    package var to: UInt16
    package var cause: Cause
}
