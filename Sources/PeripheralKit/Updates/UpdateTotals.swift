public import PeripheralCore

/// What has become of the updates of a characteristic since the session began, to all who are and were subscribed.
///
/// An update for three subscribers counts three times, where the stack can reach each alone; by
/// ``PeripheralSession/indicate(_:_:)`` it counts once.
public struct UpdateTotals: Hashable, Sendable {
    /// The characteristic.
    public let characteristic: BluetoothUUID

    /// How many values wait in queues at this moment, or for their turn to be indicated; a document is one of them until its
    /// last chunk is on its way.
    public let queued: Int

    /// How many values and chunks are on their way at this moment: handed on to the Bluetooth stack, and not known to have
    /// left; or, of what is indicated, not confirmed.
    public let inFlight: Int

    /// How many values and chunks have left, as far as is known, or were confirmed.
    public let sent: Int

    /// How many values and chunks were handed on and then given up: not confirmed within 30 s, or, where it is observed what
    /// leaves (``UpdatePacing/observed``), never seen to leave, since the stack did not send them, or where nobody could see it.
    public let givenUp: Int

    /// How many values were queued and not sent: replaced by a newer one (``UpdatePolicy/latest``), failed, or left over
    /// when their subscription ended or the peripheral went off the air.
    public let dropped: Int

    /// How many values found a queue full: ``PeripheralSession/update(_:_:)`` was `false`.
    public let refused: Int

    /// How often a call of ``PeripheralSession/notify(_:_:)-(_,Value)`` or ``PeripheralSession/readyToUpdate(_:)`` has
    /// waited for room, or one of ``PeripheralSession/indicate(_:_:)`` for its turn.
    public let waits: Int

    /// The longest time that a value, or what comes next of a document, has waited in a queue or for its turn.
    public let longestWait: Duration
}

extension PeripheralSession {
    /// The updates of each characteristic since the session began, of those that have been sent any; empty when the session
    /// is no longer valid.
    ///
    /// Other than those of ``updateStatistics``, its counts never go back, and there are never more of them than there are
    /// characteristics, which is what a monitoring system needs.
    public var updateTotals: [UpdateTotals] {
        runtime.updateTotals
    }
}
