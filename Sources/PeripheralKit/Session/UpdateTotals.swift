public import PeripheralCore

/// What has become of the updates of a characteristic since the session began, to all who are and were subscribed.
///
/// An update for three subscribers counts three times, where the stack can reach each alone.
public struct UpdateTotals: Hashable, Sendable {
    /// The characteristic.
    public let characteristic: BluetoothUUID

    /// How many values wait in queues at this moment.
    public let queued: Int

    /// How many values are on their way at this moment: handed on to the Bluetooth stack, and not known to have left.
    public let inFlight: Int

    /// How many values have left.
    public let sent: Int

    /// How many values were queued and not sent: replaced by a newer one (``UpdatePolicy/latest``), failed, or left over
    /// when their subscription ended or the peripheral went off the air.
    public let dropped: Int

    /// How many values found a queue full: ``PeripheralSession/update(_:_:)`` was `false`.
    public let refused: Int

    /// How often a call has waited for room: one of ``PeripheralSession/notify(_:_:)-(_,Value)``.
    public let waits: Int

    /// The longest time that a value has waited in a queue.
    public let longestWait: Duration
}

extension PeripheralSession {
    /// The updates of each characteristic since the session began, of those that have been sent any; empty when the session
    /// is no longer valid.
    ///
    /// Other than those of ``updateStatistics``, its counts never go back, and there are never more of them than there are
    /// characteristics, which is what a monitoring system needs. Updates by ``indicate(_:_:)`` are not part of it.
    public var updateTotals: [UpdateTotals] {
        runtime.updateTotals
    }
}
