package import PeripheralCore
package import PeripheralKit

/// A central to which a ``VirtualGATTServer`` would send a new value.
package struct VirtualSubscriber: Hashable, Sendable {
    package var central: Central
    /// The kind of update that it gets.
    package var kind: UpdateKind
    /// The security of its link.
    package var security: SecurityLevel
}
