public import PeripheralCore

/// The counts of the updates of a characteristic to all subscribers, since the session began.
///
/// An update to three subscribers counts three times if the stack can reach each alone. With
/// ``PeripheralSession/indicate(_:_:)``, it counts once.
public struct UpdateTotals: Hashable, Sendable {
    /// The characteristic.
    public let characteristic: BluetoothUUID

    /// The number of values that wait in queues at present, or for their turn to be indicated.
    ///
    /// A document counts as one value until its last chunk is in flight.
    public let queued: Int

    /// The number of values and chunks in flight at present.
    ///
    /// They were handed to the Bluetooth stack and have not completed; indications have not been confirmed.
    public let inFlight: Int

    /// The number of values and chunks that have completed, as far as is known, or were confirmed.
    public let sent: Int

    /// The number of values and chunks that were in flight and then given up.
    ///
    /// An indication is given up when it is not confirmed within 30 s. With ``CompletionReporting/observed``,
    /// an update is also given up when it was never observed to complete: the stack did not send it, or its
    /// completion could not be observed.
    public let givenUp: Int

    /// The number of queued values that were not sent.
    ///
    /// Each was replaced by a newer one (``UpdatePolicy/latest``), failed, or was left when its subscription
    /// ended or the peripheral went off the air.
    public let dropped: Int

    /// The number of values that found a queue full, so that ``PeripheralSession/update(_:_:)`` returned
    /// `false`.
    public let refused: Int

    /// How often a call has waited.
    ///
    /// Calls of ``PeripheralSession/notify(_:_:)-(_,Value)`` and ``PeripheralSession/readyToUpdate(_:)`` wait
    /// for room. Calls of ``PeripheralSession/indicate(_:_:)`` wait for their turn.
    public let waits: Int

    /// The longest time that a value has waited in a queue or for its turn.
    ///
    /// The parts of a document count as well.
    public let longestWait: Duration
}

extension PeripheralSession {
    /// The totals of each characteristic that has been sent updates.
    ///
    /// They are empty when the session is no longer valid. Unlike the counts of ``updateStatistics``, these
    /// counts never decrease. There is at most one total for each characteristic. Both are what a monitoring
    /// system needs.
    public var updateTotals: [UpdateTotals] {
        runtime.updateTotals
    }
}
