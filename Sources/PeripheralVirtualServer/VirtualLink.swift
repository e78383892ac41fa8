package import PeripheralCore

/// The central's end of a connection to a ``VirtualGATTServer``.
///
/// Its functions are called with the server's lock held, so that all happens in its order: they must be quick,
/// and must not call the server.
package protocol VirtualLink: Sendable {
    /// An update arrives.
    ///
    /// - Returns: Whether the central confirms an indication at once; otherwise it does later, by
    ///   ``VirtualGATTServer/confirmIndication(on:)``. Of a notification nobody asks.
    func received(_ update: ReceivedUpdate, of handle: AttributeHandle) -> Bool

    /// The connection has ended.
    func disconnected()
}
