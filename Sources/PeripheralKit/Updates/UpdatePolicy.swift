/// The rule for a new value while earlier values wait in the queue.
///
/// Each subscriber has a separate queue for each characteristic. If the Bluetooth stack can send a value only
/// to all subscribers together, the value waits in a queue that all subscribers share. A value of zero bytes
/// always waits in the shared queue. A value leaves the queue when the session passes the value to the
/// Bluetooth stack. The Bluetooth stack holds only a few values at a time.
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
    /// `CBPeripheralManager` of CoreBluetooth has the same policy. Use this policy if subscribers need every
    /// value.
    public static let reject = UpdatePolicy.reject(beyond: 16, bytes: 16 * maximumValueLength)

    /// Refuses a new value when the queue is full.
    ///
    /// - Parameters:
    ///   - count: The maximum number of values in the queue, which must be 1 or more.
    ///   - bytes: The maximum number of bytes in the queue. An empty queue always has room for one value.
    /// - Returns: The policy.
    public static func reject(beyond count: Int, bytes: Int = .max) -> UpdatePolicy {
        UpdatePolicy(kind: .reject(count: count, bytes: bytes))
    }

    /// Replaces a waiting value with the new value.
    ///
    /// The session does not send the replaced value. Use this policy for a sensor if subscribers need only
    /// the newest value. Send the values with ``PeripheralSession/update(_:_:)``.
    /// ``PeripheralSession/notify(_:_:)-(_,Value)`` waits until the Bluetooth stack has accepted the value.
    /// If a program calls `notify` in a loop, each value therefore waits until the Bluetooth stack has
    /// accepted the previous value.
    public static let latest = UpdatePolicy(kind: .latest)

    /// Preserves up to 64 unsent values for each subscriber.
    public static let durable = UpdatePolicy.durable(beyond: 64)

    /// Preserves unsent values for each subscriber, up to the given number.
    ///
    /// The preserved values remain available after the program ends. The values for a bonded subscriber
    /// remain preserved while that subscriber is not connected. The policy requires the peripheral to have a
    /// restoration identifier. Without a restoration identifier, the policy is the same as ``reject``.
    ///
    /// The policy applies to these values:
    ///
    /// - Values that ``PeripheralSession/notify(_:_:)-(_,Value)`` sends. The `notify` function returns when
    ///   the value is preserved.
    /// - Values that ``PeripheralSession/update(_:_:)`` queues. The session preserves the value soon after
    ///   the call to `update`.
    /// - New values of a ``PersistentValue``, and updates that its handler sends with an ``UpdateBatch``. The
    ///   session preserves the handler's updates together with the persistent value.
    ///
    /// The policy does not apply to values that the program sends to specific centrals or through `indicate`.
    ///
    /// ## Delivery
    ///
    /// The session sends the values for a subscriber in order. If a subscriber has asked for indications, the
    /// session sends the values as indications. The session preserves a notification until the device has
    /// sent the notification. ``PeripheralSession/completionReporting`` describes how the session detects
    /// that a notification has been sent. The session preserves an indication until the central has confirmed
    /// the indication.
    ///
    /// The session sends the following values again, in order:
    ///
    /// - Values that the session sent after the last save, if the program is killed before the next save.
    /// - Values that were not completely sent, or not confirmed, when the central disconnected or the program
    ///   ended.
    ///
    /// If the Bluetooth stack cannot send a value to one central separately, the session sends the value to
    /// all subscribers together. Some subscribers might therefore receive the same value twice. If a
    /// characteristic requires an encrypted link, the session sends the value after the central has encrypted
    /// the link.
    ///
    /// If a subscriber has no bond, the session drops the values for this subscriber when the subscriber
    /// disconnects. The session also drops these values when the program ends. If the Bluetooth stack does
    /// not identify a subscriber, the session sends no values to the subscriber.
    ///
    /// ## Limits
    ///
    /// When the number of values for a connected subscriber has reached the limit,
    /// ``PeripheralSession/update(_:_:)`` returns `false`. The functions
    /// ``PeripheralSession/readyToUpdate(_:)`` and ``PeripheralSession/notify(_:_:)-(_,Value)`` wait until
    /// the number of values is below the limit.
    ///
    /// A subscriber that is not connected does not delay other subscribers. After a subscriber reconnects, it
    /// receives the newest values, up to the limit. ``RestorationStatistics/droppedUpdates`` counts the older
    /// values that the session dropped.
    ///
    /// The limit does not delay a value that a central writes to a ``PersistentValue``. Even if the limit is
    /// already reached, the session preserves the value that the central has written.
    ///
    /// The session preserves at most 4,096 values for all subscribers together. If the total exceeds 4,096
    /// values, the session selects the subscriber with the most preserved values. The session drops the
    /// oldest values of the selected subscriber.
    ///
    /// - Parameter count: The maximum number of preserved values for each subscriber. The number must be 1 or
    ///   more.
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
