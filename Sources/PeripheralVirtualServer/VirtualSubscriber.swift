package import PeripheralCore
package import PeripheralKit

/// A central that a ``VirtualGATTServer`` would send a new value to.
package struct VirtualSubscriber: Hashable, Sendable {
    package var central: Central
    /// How it gets the value.
    package var kind: UpdateKind
    /// What its link offers.
    package var security: SecurityLevel
}
