/// The treatment of a new value while earlier values wait to be sent.
///
/// Each subscriber has a separate queue for each characteristic. A value that the Bluetooth stack can send
/// only to all subscribers together waits in one queue for all subscribers. Empty values also wait in that
/// queue. Values in flight do not count as queued. The stack holds only a few values in flight at a time.
///
/// ```swift
/// Characteristic<Acceleration>("5c3a0007-7e3c-4b6e-9d29-b3f1c0a1d001", .notify, updates: .latest)
/// ```
public struct UpdatePolicy: Hashable, Sendable {
    enum Kind: Hashable {
        case reject(count: Int, bytes: Int)
        case latest
    }

    let kind: Kind
    /// The maximum number of values that are preserved for each subscriber; `nil` if no values are preserved.
    private(set) var durableLimit: Int?

    /// Refuses a new value when the queue contains 16 values or 8,192 bytes.
    ///
    /// `CBPeripheralManager` has the same policy. Use this policy if every value counts.
    public static let reject = UpdatePolicy.reject(beyond: 16, bytes: 16 * maximumValueLength)

    /// Refuses a new value when the queue is full.
    ///
    /// - Parameters:
    ///   - count: The maximum number of values in the queue; 1 or more.
    ///   - bytes: The maximum number of bytes in the queue. An empty queue always has room for one value.
    /// - Returns: The policy.
    public static func reject(beyond count: Int, bytes: Int = .max) -> UpdatePolicy {
        UpdatePolicy(kind: .reject(count: count, bytes: bytes))
    }

    /// Replaces the waiting value with the new value.
    ///
    /// The replaced value is dropped. Use this policy for a sensor if only the newest value counts. Send the
    /// values with ``PeripheralSession/update(_:_:)``. A call of ``PeripheralSession/notify(_:_:)-(_,Value)``
    /// waits until the stack has accepted the value. A program that calls `notify` in a loop therefore delays
    /// its own newer values.
    public static let latest = UpdatePolicy(kind: .latest)

    /// Preserves each value until it is sent, up to 64 values for each subscriber.
    public static let durable = UpdatePolicy.durable(beyond: 64)

    /// Preserves each value until it is sent, up to a limit for each subscriber.
    ///
    /// The values survive the end of the program. The values for a bonded subscriber are preserved even while
    /// that subscriber is not connected. The policy needs the restoration identifier of the peripheral.
    /// Without a restoration identifier, the policy is the same as ``reject``.
    ///
    /// The policy applies to these values:
    ///
    /// - Values of ``PeripheralSession/notify(_:_:)-(_,Value)``. This function returns when the value is
    ///   preserved.
    /// - Values of ``PeripheralSession/update(_:_:)``. Such a value is preserved soon after the call.
    /// - Values that a ``PersistentValue`` and its handler send (``UpdateBatch``). These values are preserved
    ///   together with the persistent value.
    ///
    /// The policy does not apply to values that the program sends to specific centrals or with `indicate`.
    ///
    /// ## Delivery
    ///
    /// The values for a subscriber are sent in order. They are sent as indications if the subscriber has
    /// asked for indications. A notification is preserved until it has completed, as far as its completion is
    /// known (``PeripheralSession/completionReporting``). An indication is preserved until the central has
    /// confirmed it.
    ///
    /// These values are sent again, in order:
    ///
    /// - Values that were sent after the last save, if the program was killed.
    /// - Values that were in flight when the central disconnected or the program ended.
    ///
    /// If the stack cannot reach a central alone, each value for this central is sent once to all
    /// subscribers. Some subscribers may therefore receive a value twice. A subscriber whose link is not
    /// encrypted yet may be unable to receive a value. Such a subscriber receives the value later.
    ///
    /// The values for a subscriber that is not bonded are dropped when it disconnects or the program ends. A
    /// subscriber that the stack does not identify receives no values.
    ///
    /// ## Limits
    ///
    /// When a connected subscriber has reached the limit, ``PeripheralSession/update(_:_:)`` returns `false`.
    /// ``PeripheralSession/readyToUpdate(_:)`` and ``PeripheralSession/notify(_:_:)-(_,Value)`` then wait.
    ///
    /// A subscriber that is not connected does not delay other subscribers. When it returns, it receives the
    /// newest values up to the limit. ``RestorationStatistics/droppedUpdates`` counts the older values that
    /// were dropped.
    ///
    /// A value that a central writes to a ``PersistentValue`` does not wait. Such a value is preserved even
    /// beyond the limit.
    ///
    /// At most 4,096 values are preserved for all subscribers together. Beyond that limit, the oldest values
    /// of the subscriber with the most values are dropped.
    ///
    /// - Parameter count: The maximum number of values that wait for one subscriber; 1 or more.
    /// - Returns: The policy.
    public static func durable(beyond count: Int) -> UpdatePolicy {
        UpdatePolicy(kind: .reject(count: 16, bytes: 16 * maximumValueLength), durableLimit: count)
    }

    /// The maximum number of values of a characteristic that can be in flight to a central.
    ///
    /// The limit of 2 for `latest` keeps values new: one value is being sent, and another follows without a
    /// gap.
    var inFlightLimit: Int {
        switch kind {
        case .reject: .max
        case .latest: 2
        }
    }

    /// Whether a queue with these limits is possible.
    var isPossible: Bool {
        switch kind {
        case .reject(let count, let bytes): count >= 1 && bytes >= 1 && durableLimit ?? 1 >= 1
        case .latest: true
        }
    }
}
