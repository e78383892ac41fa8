public import PeripheralCore

/// The counts of the updates of a characteristic to one subscriber, since the subscription began.
public struct UpdateStatistics: Hashable, Sendable {
    /// The characteristic.
    public let characteristic: BluetoothUUID

    /// The subscriber.
    ///
    /// The subscriber is `nil` if the stack cannot reach each subscriber alone, and for updates of
    /// ``PeripheralSession/indicate(_:_:)``.
    public let central: Central.ID?

    /// The number of values that wait in the queue, and of indications that wait for their turn.
    ///
    /// A document counts as one value until its last chunk is in flight.
    public let queued: Int

    /// The number of values and chunks in flight.
    ///
    /// These values and chunks were handed to the Bluetooth stack and have not completed. Indications in
    /// flight have not been confirmed.
    public let inFlight: Int

    /// The number of values and chunks that have completed, as far as is known, or were confirmed.
    public let sent: Int

    /// The number of values and chunks in flight that were given up.
    ///
    /// An indication is given up when it is not confirmed within 30 s. With ``CompletionReporting/observed``,
    /// an update is also given up when its completion was not observed. In this case, the stack may have sent
    /// the update or not.
    public let givenUp: Int

    /// The number of queued values that were not sent.
    ///
    /// Each such value failed, or was replaced by a newer value (``UpdatePolicy/latest``).
    public let dropped: Int

    /// The number of values that ``PeripheralSession/update(_:_:)`` refused because the queue was full.
    public let refused: Int

    /// The number of calls that have waited.
    ///
    /// Calls of ``PeripheralSession/notify(_:_:)-(_,Value)`` and ``PeripheralSession/readyToUpdate(_:)`` wait
    /// for room. Calls of ``PeripheralSession/indicate(_:_:)`` wait for their turn.
    public let waits: Int

    /// The longest time that a value has waited in the queue or for its turn.
    ///
    /// The waits of the parts of a document are included.
    public let longestWait: Duration
}

extension PeripheralSession {
    /// The statistics of the update queues; empty when the session is no longer valid.
    ///
    /// A queue begins and ends with its subscription.
    public var updateStatistics: [UpdateStatistics] {
        runtime.updateStatistics
    }
}
