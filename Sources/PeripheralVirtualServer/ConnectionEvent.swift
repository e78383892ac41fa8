package import PeripheralCore
package import PeripheralKit

/// What happens to the connection of a central to a ``VirtualGATTServer``.
package enum ConnectionEvent: Hashable, Sendable {
    /// A central has connected, with the MTU that the value says.
    case connected(Central)
    /// The link is encrypted: by a bond, or by a pairing.
    case secured(Central, SecurityLevel)
    /// A central has paired; a bonded one is known again when it comes back.
    case paired(Central, isBonded: Bool)
    /// A central has tried to pair, in vain.
    case pairingFailed(Central)
    /// The bond with a central is forgotten.
    case forgotten(DeviceAddress)
    case disconnected(Central)
}
