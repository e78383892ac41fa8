public import PeripheralCore

/// The counts of the updates of a characteristic to all subscribers, since the session began.
///
/// An update to three subscribers counts three times if the stack can reach each subscriber alone. An update
/// of ``PeripheralSession/indicate(_:_:)`` counts once.
public struct UpdateTotals: Hashable, Sendable {
    /// The characteristic.
    public let characteristic: BluetoothUUID

    /// The number of values that wait in queues at present, and of indications that wait for their turn.
    ///
    /// A document counts as one value until its last chunk is in flight.
    public let queued: Int

    /// The number of values and chunks in flight at present.
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
    /// Each such value failed, or was replaced by a newer value (``UpdatePolicy/latest``), or was dropped
    /// because its subscription ended or the peripheral went off the air.
    public let dropped: Int

    /// The number of values that ``PeripheralSession/update(_:_:)`` refused because a queue was full.
    public let refused: Int

    /// The number of calls that have waited.
    ///
    /// Calls of ``PeripheralSession/notify(_:_:)-(_,Value)`` and ``PeripheralSession/readyToUpdate(_:)`` wait
    /// for room. Calls of ``PeripheralSession/indicate(_:_:)`` wait for their turn.
    public let waits: Int

    /// The longest time that a value has waited in a queue or for its turn.
    ///
    /// The waits of the parts of a document are included.
    public let longestWait: Duration
}

extension PeripheralSession {
    /// The totals of each characteristic whose queues have been used.
    ///
    /// The list is empty when the session is no longer valid. There is at most one entry for each
    /// characteristic. Unlike the counts of ``updateStatistics``, the counts of an entry are not reset
    /// during a session. Monitoring systems need both properties.
    public var updateTotals: [UpdateTotals] {
        runtime.updateTotals
    }
}
