public import PeripheralCore

/// The update statistics of a characteristic for all subscribers together.
///
/// The session counts the updates from the beginning of the session.
///
/// If the Bluetooth stack can send updates to each subscriber separately, an update to three subscribers
/// counts three times. The session counts each call to ``PeripheralSession/indicate(_:_:)`` as one update,
/// even if there are several subscribers.
public struct UpdateTotals: Hashable, Sendable {
    /// The characteristic.
    public let characteristic: BluetoothUUID

    /// The current number of queued values and waiting indications.
    ///
    /// A document counts as one value until the session has passed the last chunk to the Bluetooth stack.
    public let queued: Int

    /// The current number of values and chunks in flight.
    ///
    /// A value or chunk is in flight if the Bluetooth stack holds it and its completion is not known. An
    /// indication is in flight until the central has confirmed the indication.
    public let inFlight: Int

    /// The number of values and chunks that were sent successfully.
    ///
    /// An indication counts as sent when the central has confirmed the indication. A notification counts as
    /// sent when the session has determined that the notification has left the device (see
    /// ``CompletionReporting``).
    public let sent: Int

    /// The number of values and chunks with an unknown outcome.
    ///
    /// The session stops waiting for the confirmation of an indication after 30 s. With
    /// ``CompletionReporting/observed``, the session also stops waiting if it does not observe the completion
    /// of an update in time. It is possible that the Bluetooth stack has sent these updates.
    public let givenUp: Int

    /// The number of queued values that were not sent.
    ///
    /// A queued value is not sent in these cases:
    ///
    /// - An attempt to send the value fails.
    /// - A newer value replaces the queued value (see ``UpdatePolicy/latest``).
    /// - The subscription ends.
    /// - The peripheral is no longer published.
    public let dropped: Int

    /// The number of values that ``PeripheralSession/update(_:_:)`` refused because a queue was full.
    public let refused: Int

    /// The number of function calls that had to wait.
    ///
    /// Calls to ``PeripheralSession/notify(_:_:)-(_,Value)`` and ``PeripheralSession/readyToUpdate(_:)`` wait
    /// for room in a queue. Calls to ``PeripheralSession/indicate(_:_:)`` wait for earlier indications.
    public let waits: Int

    /// The longest time that a value or an indication has waited.
    ///
    /// The property also takes into account how long each part of a document has waited.
    public let longestWait: Duration
}
