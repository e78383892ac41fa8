public import PeripheralCore

/// What has become of the updates of a characteristic to a subscriber, since it has subscribed.
public struct UpdateStatistics: Hashable, Sendable {
    /// The characteristic.
    public let characteristic: BluetoothUUID

    /// The subscriber; `nil` for what goes to all subscribers together, where the stack cannot reach each alone.
    public let central: Central.ID?

    /// How many values wait in the queue; a document is one of them until its last chunk is on its way.
    public let queued: Int

    /// How many values and chunks are on their way: handed on to the Bluetooth stack, and not known to have left; or, of a
    /// document that is sent by indications, not confirmed.
    public let inFlight: Int

    /// How many values and chunks have left, or were confirmed.
    public let sent: Int

    /// How many values were queued and not sent: replaced by a newer one (``UpdatePolicy/latest``), or failed.
    public let dropped: Int

    /// How many values found the queue full: ``PeripheralSession/update(_:_:)`` was `false`.
    public let refused: Int

    /// How often a call of ``PeripheralSession/notify(_:_:)-(_,Value)`` has waited for room.
    ///
    /// Those that wait with ``PeripheralSession/readyToUpdate(_:)`` are not counted.
    public let waits: Int

    /// The longest time that a value has waited in the queue; documents are not counted.
    public let longestWait: Duration
}

extension PeripheralSession {
    /// The queues of updates at this moment, of those that have been used; empty when the session is no longer valid.
    ///
    /// A queue begins and ends with its subscription.
    /// Updates by ``indicate(_:_:)`` are not part of it; the chunks of documents are, also those that are sent by
    /// indications.
    public var updateStatistics: [UpdateStatistics] {
        runtime.updateStatistics
    }
}
