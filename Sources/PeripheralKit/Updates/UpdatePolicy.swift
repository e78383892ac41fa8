/// What happens to a new value while earlier values wait to be sent.
///
/// Each subscriber has a separate queue for each characteristic. A value that the Bluetooth stack can send
/// only to all subscribers together waits in one queue for all of them, and so does an empty value. Values in
/// flight do not count: the stack holds only a few of them at a time.
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
    /// How many values are preserved for each subscriber until they are sent; `nil` if none are.
    private(set) var durableLimit: Int?

    /// Refuses a new value when the queue is full, with 16 values or 8,192 bytes.
    ///
    /// This is the behavior of `CBPeripheralManager`. Use it if every value counts.
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

    /// Replaces the waiting value, which is dropped, with the new one.
    ///
    /// Use it for a sensor, of which only the newest value counts. Send with
    /// ``PeripheralSession/update(_:_:)``. A call of ``PeripheralSession/notify(_:_:)-(_,Value)`` waits until
    /// its value is taken. A program that calls it in a loop therefore delays its own newer values.
    public static let latest = UpdatePolicy(kind: .latest)

    /// Preserves each value for each subscriber until it is sent, at most 64 for one subscriber.
    public static let durable = UpdatePolicy.durable(beyond: 64)

    /// Preserves each value for each subscriber until it is sent, up to a limit.
    ///
    /// The values outlast the end of the program, and are preserved for a bonded subscriber even while it is
    /// away. The policy needs the restoration identifier of the peripheral. Without one, it is the same as
    /// ``reject``.
    ///
    /// It applies to:
    ///
    /// - ``PeripheralSession/notify(_:_:)-(_,Value)``, which returns when the value is preserved;
    /// - ``PeripheralSession/update(_:_:)``, whose value is preserved soon after;
    /// - the values that a ``PersistentValue`` and its handler send (``UpdateBatch``), which are preserved
    ///   together with that value.
    ///
    /// It does not apply to values for chosen centrals, or to `indicate`.
    ///
    /// ## Delivery
    ///
    /// A subscriber's values are sent in order, as indications if it has asked for indications. A value is
    /// preserved until it has left the device, as far as that is known
    /// (``PeripheralSession/completionReporting``), or the central has confirmed it. Some values are sent
    /// again, in order: those sent since the last save before the program was killed, and those in flight
    /// when the central disconnected or the program ended.
    ///
    /// If the stack cannot reach a central alone, the values for it are sent once to all subscribers, even to
    /// those that already have them. A subscriber that cannot receive them then, such as on a link that is
    /// not encrypted yet, receives them later.
    ///
    /// The values for a subscriber that is not bonded are dropped when it disconnects or the program ends. A
    /// subscriber that the stack does not identify receives nothing.
    ///
    /// ## Limits
    ///
    /// When the limit is reached for a connected subscriber, ``PeripheralSession/update(_:_:)`` returns
    /// `false`, and ``PeripheralSession/readyToUpdate(_:)`` and ``PeripheralSession/notify(_:_:)-(_,Value)``
    /// wait. A subscriber that is away delays no one. It receives the newest values up to the limit;
    /// ``RestorationStatistics/droppedUpdates`` counts the values dropped for newer ones. A value that a
    /// central writes to a ``PersistentValue`` does not wait: it is preserved beyond the limit.
    ///
    /// All subscribers together have at most 4,096 values. Beyond that, the oldest values of the subscriber
    /// with the most values are dropped.
    ///
    /// - Parameter count: The maximum number of values that wait for one subscriber; 1 or more.
    /// - Returns: The policy.
    public static func durable(beyond count: Int) -> UpdatePolicy {
        UpdatePolicy(kind: .reject(count: 16, bytes: 16 * maximumValueLength), durableLimit: count)
    }

    /// How many values of a characteristic can be in flight to a central.
    ///
    /// The limit of 2 for `latest` keeps values new: one is being sent, and one follows it without a gap.
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
