public import PeripheralCore

/// The update statistics of a characteristic for one subscriber.
///
/// The session counts the updates from the beginning of the subscription.
public struct UpdateStatistics: Hashable, Sendable {
    /// The characteristic.
    public let characteristic: BluetoothUUID

    /// The subscriber.
    ///
    /// The subscriber is `nil` if the Bluetooth stack cannot send updates to each subscriber separately. The
    /// subscriber is always `nil` for values that ``PeripheralSession/indicate(_:_:)`` sends to all
    /// subscribers.
    public let central: Central.ID?

    /// The number of queued values and waiting indications.
    ///
    /// A waiting document counts as one value. The number includes a document until the Bluetooth stack has
    /// accepted the last chunk of the document.
    public let queued: Int

    /// The number of values and chunks in flight.
    ///
    /// The Bluetooth stack has accepted the values and chunks in flight, but the session is still waiting for
    /// their completion. An indication is in flight until the central has confirmed the indication.
    public let inFlight: Int

    /// The number of values and chunks that were sent successfully.
    ///
    /// An indication counts as sent when the central has confirmed the indication. ``CompletionReporting``
    /// describes how the session detects that a notification has been sent.
    public let sent: Int

    /// The number of values and chunks that were not completed in time.
    ///
    /// The session stops waiting for the confirmation of an indication after 30 s. With
    /// ``CompletionReporting/observed``, the session also stops waiting for an update that is not completed
    /// within a time limit. The Bluetooth stack might nevertheless have sent an update that was not completed
    /// in time.
    public let givenUp: Int

    /// The number of values that the session removed from the queue without sending them.
    ///
    /// The session removes a value without sending it in these cases:
    ///
    /// - An attempt to send the value fails.
    /// - A newer value replaces the queued value (see ``UpdatePolicy/latest``).
    public let dropped: Int

    /// The number of values that ``PeripheralSession/update(_:_:)`` refused because the queue was full.
    public let refused: Int

    /// The number of function calls that had to wait.
    ///
    /// Calls to ``PeripheralSession/notify(_:_:)-(_,Value)`` and ``PeripheralSession/readyToUpdate(_:)`` wait
    /// for room in a queue. Calls to ``PeripheralSession/indicate(_:_:)`` wait for earlier indications.
    public let waits: Int

    /// The longest time that a value or an indication has waited in a queue.
    ///
    /// For a document, the session measures the waiting time of each chunk.
    public let longestWait: Duration
}
