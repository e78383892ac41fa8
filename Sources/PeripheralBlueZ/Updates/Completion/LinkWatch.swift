package import PeripheralCore

/// Watches the traffic on the connections of an adapter, until it is closed.
///
/// The watch belongs to an event loop.
package protocol LinkWatch: AnyObject {
    /// Returns the activity of the connections since the last look.
    func look() -> LinkActivity

    /// Returns the number of packets that the controller has not yet sent on a connection.
    func packetsInFlight(on connection: UInt16) -> Int

    /// The number of packets that the controller has not yet sent on all connections.
    var packetsInFlight: Int { get }

    /// Stops watching.
    func close()
}

/// An observation of a connection, which is identified by the controller's handle.
package enum LinkObservation: Equatable, Sendable {
    /// An update is completed.
    ///
    /// The controller has sent all packets of the update, and the central's controller has acknowledged them.
    /// `attribute` is the handle of the attribute in the transmitted packets.
    case completed(attribute: AttributeHandle, connection: UInt16)

    /// A connection has ended.
    case ended(connection: UInt16)

    /// The adapter has disappeared with all its connections.
    case adapterGone

    /// Some frames are lost, and the content of the lost frames is unknown.
    case missed
}

/// The activity of connections since the last look.
package struct LinkActivity: Equatable, Sendable {
    /// The connections that have carried packets, or have packets to carry.
    package var busy: [UInt16]

    /// Whether the controller has sent none of its packets.
    ///
    /// In that case, the controller may have no room for packets of other connections.
    package var isHeldUp: Bool

    /// The connections that have carried packets.
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
