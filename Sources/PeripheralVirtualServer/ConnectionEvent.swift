package import PeripheralCore
package import PeripheralKit

/// An event of a central's connection to a ``VirtualGATTServer``.
package enum ConnectionEvent: Hashable, Sendable {
    /// A central has connected.
    ///
    /// The `Central` value contains the MTU.
    case connected(Central)
    /// The parameters of the link have changed, or stay the same at the request of the server.
    case changed(Central)
    /// The link is encrypted with keys from a bond or from a pairing.
    case secured(Central, SecurityLevel)
    /// A central has paired.
    ///
    /// If the central is bonded, the server recognizes the central after a reconnection.
    case paired(Central, isBonded: Bool)
    /// A central has failed to pair.
    case pairingFailed(Central)
    /// The bond with a central was deleted.
    case forgotten(Central)
    case disconnected(Central, DisconnectionReason)
    /// The imitated version has refused a written value because of its length.
    case refusedLength(RefusedLength)
}
