public import PeripheralCore

/// What has become of the updates of a characteristic since the session began, to all who are and were subscribed.
///
/// An update for three subscribers counts three times, where the stack can reach each alone.
public struct UpdateTotals: Hashable, Sendable {
    /// The characteristic.
    public let characteristic: BluetoothUUID

    /// How many values wait in queues at this moment; a document is one of them until its last chunk is on its way.
    public let queued: Int

    /// How many values and chunks are on their way at this moment: handed on to the Bluetooth stack, and not known to have
    /// left; or, of a document that is sent by indications, not confirmed.
    public let inFlight: Int

    /// How many values and chunks have left, or were confirmed.
    public let sent: Int

    /// How many values were queued and not sent: replaced by a newer one (``UpdatePolicy/latest``), failed, or left over
    /// when their subscription ended or the peripheral went off the air.
    public let dropped: Int

    /// How many values found a queue full: ``PeripheralSession/update(_:_:)`` was `false`.
    public let refused: Int

    /// How often a call of ``PeripheralSession/notify(_:_:)-(_,Value)`` has waited for room.
    ///
    /// Those that wait with ``PeripheralSession/readyToUpdate(_:)`` are not counted.
    public let waits: Int

    /// The longest time that a value has waited in a queue; documents are not counted.
    public let longestWait: Duration
}

extension PeripheralSession {
    /// The updates of each characteristic since the session began, of those that have been sent any; empty when the session
    /// is no longer valid.
    ///
    /// Other than those of ``updateStatistics``, its counts never go back, and there are never more of them than there are
    /// characteristics, which is what a monitoring system needs.
    /// Updates by ``indicate(_:_:)`` are not part of it; the chunks of documents are, also those that are sent by
    /// indications.
    public var updateTotals: [UpdateTotals] {
        runtime.updateTotals
    }
}
