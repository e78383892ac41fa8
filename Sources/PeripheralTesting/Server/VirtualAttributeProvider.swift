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

    /// Takes note that a central has changed its client characteristic configuration.
    ///
    /// Called with the server's lock held, so that the changes come in their order: it must be quick, and must
    /// not call the server.
    func subscriptionChanged(_ change: SubscriptionChange)

    /// Takes note that a central has confirmed an indication.
    func indicationConfirmed(_ characteristic: AttributeHandle, by central: Central)
}

/// A change of a central's client characteristic configuration.
package struct SubscriptionChange: Hashable, Sendable {
    /// The characteristic, by its value handle in the application's own table.
    package var characteristic: AttributeHandle
    package var central: Central
    /// The configuration before: 0, 1 for notifications, 2 for indications.
    package var from: UInt16
    package var to: UInt16
}
