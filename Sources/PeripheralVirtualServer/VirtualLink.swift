package import PeripheralCore

/// The central's end of a connection to a ``VirtualGATTServer``.
///
/// The server calls its methods with its lock held, so that events arrive in order. The methods must be quick
/// and must not call the server.
package protocol VirtualLink: Sendable {
    /// Receives an update.
    ///
    /// - Returns: Whether the central confirms an indication at once; if not, it calls
    ///   ``VirtualGATTServer/confirmIndication(on:)`` later. The result is ignored for a notification.
    func received(_ update: ReceivedUpdate, of handle: AttributeHandle) -> Bool

    /// The connection has ended.
    func disconnected()
}
