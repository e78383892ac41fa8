package import PeripheralCore

/// Something that watches what the connections of an adapter carry, until it is closed.
///
/// It belongs to an event loop.
package protocol LinkWatch: AnyObject {
    /// What the connections have done since the last look.
    func look() -> LinkActivity

    /// Watches no more.
    func close()
}

/// What was seen of the connections of an adapter, each known by the controller's handle.
package enum LinkObservation: Equatable, Sendable {
    /// An update has left: the controller has sent all its packets, and the central's has acknowledged them.
    ///
    /// The attribute is known by its handle on the air.
    case completed(attribute: AttributeHandle, connection: UInt16)

    /// A connection has ended.
    case ended(connection: UInt16)

    /// The adapter is gone, with all its connections.
    case adapterGone

    /// Something was not seen; nobody knows what.
    case missed
}

/// What connections have done in a while.
package struct LinkActivity: Equatable, Sendable {
    /// Those that have carried something, or have something to carry.
    package var busy: [UInt16]

    /// Whether the controller has carried nothing of what it holds: it may have no room for what is to go to others.
    package var isHeldUp: Bool

    /// Those that have carried something.
    package var completing: [UInt16]

    /// Those that have been in doubt, and of which is now forgotten what they may hold.
    package var forgotten: [UInt16]

    package init(
        busy: [UInt16] = [],
        completing: [UInt16] = [],
        forgotten: [UInt16] = [],
        isHeldUp: Bool = false
    ) {
        self.busy = busy
        self.completing = completing
        self.forgotten = forgotten
        self.isHeldUp = isHeldUp
    }
}
