public import PeripheralCore

/// What has become of the updates of a characteristic to a subscriber, since it has subscribed.
public struct UpdateStatistics: Hashable, Sendable {
    /// The characteristic.
    public let characteristic: BluetoothUUID

    /// The subscriber; `nil` for what goes to all subscribers together: where the stack cannot reach each alone, and by
    /// ``PeripheralSession/indicate(_:_:)``.
    public let central: Central.ID?

    /// How many values wait in the queue, or for their turn to be indicated; a document is one of them until its
    /// last chunk is on its way.
    public let queued: Int

    /// How many values and chunks are on their way: handed on to the Bluetooth stack, and not known to have left; or, of what
    /// is indicated, not confirmed.
    public let inFlight: Int

    /// How many values and chunks have left, as far as is known, or were confirmed.
    public let sent: Int

    /// How many values and chunks were handed on and then given up: not confirmed within 30 s, or, where it is observed what
    /// leaves (``UpdatePacing/observed``), never seen to leave, since the stack did not send them, or where nobody could see it.
    public let givenUp: Int

    /// How many values were queued and not sent: replaced by a newer one (``UpdatePolicy/latest``), or failed.
    public let dropped: Int

    /// How many values found the queue full: ``PeripheralSession/update(_:_:)`` was `false`.
    public let refused: Int

    /// How often a call of ``PeripheralSession/notify(_:_:)-(_,Value)`` or ``PeripheralSession/readyToUpdate(_:)`` has
    /// waited for room, or one of ``PeripheralSession/indicate(_:_:)`` for its turn.
    public let waits: Int

    /// The longest time that a value, or what comes next of a document, has waited in the queue or for its turn.
    public let longestWait: Duration
}

extension PeripheralSession {
    /// The queues of updates at this moment, of those that have been used; empty when the session is no longer valid.
    ///
    /// A queue begins and ends with its subscription.
    public var updateStatistics: [UpdateStatistics] {
        runtime.updateStatistics
    }
}
