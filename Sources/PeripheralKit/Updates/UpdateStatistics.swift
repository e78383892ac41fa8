public import PeripheralCore

/// The counts of the updates of a characteristic to one subscriber, since it subscribed.
public struct UpdateStatistics: Hashable, Sendable {
    /// The characteristic.
    public let characteristic: BluetoothUUID

    /// The subscriber.
    ///
    /// It is `nil` for updates to all subscribers together: if the stack cannot reach each alone, and for
    /// ``PeripheralSession/indicate(_:_:)``.
    public let central: Central.ID?

    /// The number of values that wait in the queue, or for their turn to be indicated.
    ///
    /// A document counts as one value until its last chunk is in flight.
    public let queued: Int

    /// The number of values and chunks in flight.
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
    /// Each was replaced by a newer one (``UpdatePolicy/latest``), or failed.
    public let dropped: Int

    /// The number of values that found the queue full, so that ``PeripheralSession/update(_:_:)`` returned
    /// `false`.
    public let refused: Int

    /// How often a call has waited.
    ///
    /// Calls of ``PeripheralSession/notify(_:_:)-(_,Value)`` and ``PeripheralSession/readyToUpdate(_:)`` wait
    /// for room. Calls of ``PeripheralSession/indicate(_:_:)`` wait for their turn.
    public let waits: Int

    /// The longest time that a value has waited in the queue or for its turn.
    ///
    /// The parts of a document count as well.
    public let longestWait: Duration
}

extension PeripheralSession {
    /// The statistics of the update queues in use; empty when the session is no longer valid.
    ///
    /// A queue begins and ends with its subscription.
    public var updateStatistics: [UpdateStatistics] {
        runtime.updateStatistics
    }
}
