package import PeripheralCore
package import PeripheralKit

/// Who serves the attributes of an application on a ``VirtualGATTServer``.
///
/// Requests name the attributes by the handles of the application's own table, not by those on the air. They
/// run in a task each. bluetoothd gives an application 5 seconds for an answer: a provider that can be late has
/// to see to that itself.
package protocol VirtualAttributeProvider: Sendable {
    /// Reads an attribute from an offset on.
    func read(_ request: ReadRequest) async -> Result<[UInt8], ATTError>

    /// Writes an attribute.
    ///
    /// - Parameters:
    ///   - request: What to write.
    ///   - withResponse: Whether the central, or the server on its behalf, waits for the outcome. Without, the
    ///     result is ignored.
    /// - Returns: Success, or how the central is refused.
    func write(_ request: WriteRequest, withResponse: Bool) async -> Result<Void, ATTError>

    /// Says whether a central may prepare to write an attribute that was added for authorization.
    ///
    /// - Parameters:
    ///   - request: Which attribute, where, and who asks; there is no value yet.
    ///   - withResponse: Whether the server waits for the outcome. Without, the result is ignored, and the next
    ///     part asks anew.
    /// - Returns: Success, which holds until the prepared writes are executed, or how the central is refused.
    func authorizeWrite(_ request: WriteRequest, withResponse: Bool) async -> Result<Void, ATTError>

    /// Takes note that the client characteristic configuration of a central has changed.
    ///
    /// Called with the server's lock held, so that the changes come in their order: it must be quick, and must
    /// not call the server.
    func subscriptionChanged(_ change: SubscriptionChange)

    /// Takes note that all is told that the end of a connection, or of a bond, has brought about.
    ///
    /// Called with the server's lock held, as ``subscriptionChanged(_:)`` is.
    func subscriptionsEnded()

    /// Takes note that a central has confirmed an indication.
    ///
    /// Called with the server's lock held, as ``subscriptionChanged(_:)`` is.
    func indicationConfirmed(_ characteristic: AttributeHandle, by central: Central)
}

extension VirtualAttributeProvider {
    /// Does nothing.
    package func subscriptionsEnded() {}

    /// Allows it.
    package func authorizeWrite(_ request: WriteRequest, withResponse: Bool) async -> Result<Void, ATTError> {
        .success(())
    }
}

/// A change of a central's client characteristic configuration.
package struct SubscriptionChange: Hashable, Sendable {
    /// What brought it about.
    package enum Cause: Hashable, Sendable {
        /// The central has written it.
        case written
        /// The central is gone, and its configuration forgotten.
        case ended
        /// The central is gone; it is bonded, and its configuration waits for it. bluetoothd tells nobody.
        case suspended
        /// The bonded central is back. bluetoothd tells nobody.
        case resumed
    }

    /// The characteristic, by its value handle in the application's own table.
    package var characteristic: AttributeHandle
    package var central: Central
    /// The configuration before: 0, 1 for notifications, 2 for indications.
    package var from: UInt16
    package var to: UInt16
    package var cause: Cause
}
