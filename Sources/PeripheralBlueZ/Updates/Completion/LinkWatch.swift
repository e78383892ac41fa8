package import PeripheralCore

/// Watches what the connections of an adapter carry, until it is closed.
///
/// It belongs to an event loop.
package protocol LinkWatch: AnyObject {
    /// Returns what the connections have done since the last look.
    func look() -> LinkActivity

    /// Stops watching.
    func close()
}

/// An observation of a connection, which is identified by the controller's handle.
package enum LinkObservation: Equatable, Sendable {
    /// An update is completed: the controller has sent all its packets, and the central's controller has
    /// acknowledged them.
    ///
    /// The attribute is identified by its handle on the air.
    case completed(attribute: AttributeHandle, connection: UInt16)

    /// A connection has ended.
    case ended(connection: UInt16)

    /// The adapter is gone, with all its connections.
    case adapterGone

    /// Something went unseen; it is unknown what.
    case missed
}

/// The activity of connections since the last look.
package struct LinkActivity: Equatable, Sendable {
    /// The connections that have carried something, or have something to carry.
    package var busy: [UInt16]

    /// Whether the controller has sent nothing of what it holds: it may have no room for packets of other
    /// connections.
    package var isHeldUp: Bool

    /// The connections that have carried something.
    package var completing: [UInt16]

    /// The doubtful connections whose packets are no longer known.
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
