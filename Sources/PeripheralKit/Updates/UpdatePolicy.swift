/// What becomes of a new value while those before it still wait to be sent.
///
/// Each subscriber has a queue of its own for each characteristic; where the Bluetooth stack cannot reach each alone (BlueZ
/// before 5.76, or an empty value), what is for all of them waits in one queue. Values that have been handed on to the
/// Bluetooth stack and have not left it do not count: of these, there are only a few at a time.
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
    /// How many values are kept for each subscriber until they are sent, whatever ends the program; `nil` when none are.
    private(set) var durableLimit: Int?

    /// A value that finds the queue full is refused; at most 16 values wait, with 8192 bytes.
    ///
    /// What `CBPeripheralManager` does, and right for everything of which each part counts.
    public static let reject = UpdatePolicy.reject(beyond: 16, bytes: 16 * maximumValueLength)

    /// A value that finds the queue full is refused.
    ///
    /// - Parameters:
    ///   - count: How many values wait at most; 1 or more.
    ///   - bytes: How many bytes these have at most. A value always finds room in an empty queue.
    /// - Returns: The policy.
    public static func reject(beyond count: Int, bytes: Int = .max) -> UpdatePolicy {
        UpdatePolicy(kind: .reject(count: count, bytes: bytes))
    }

    /// A new value takes the place of the one that waits, which is dropped: right for a sensor, of which only the newest
    /// value counts.
    ///
    /// Send by ``PeripheralSession/update(_:_:)``: a call of ``PeripheralSession/notify(_:_:)-(_,Value)`` waits until its
    /// value is taken, so that a program that calls it in a loop has its own newer values wait.
    public static let latest = UpdatePolicy(kind: .latest)

    /// A value is kept for each subscriber until it is sent; at most 64 wait for one.
    public static let durable = UpdatePolicy.durable(beyond: 64)

    /// A value is kept for each subscriber until it is sent, also while a bonded one is away and when the program ends.
    ///
    /// It needs the restoration identifier of the peripheral; without one, it is as ``reject``. It applies to
    /// ``PeripheralSession/notify(_:_:)-(_,Value)``, which returns when the value is preserved, and ``PeripheralSession/update(_:_:)``, by
    /// which it soon is, and to what a ``PersistentValue`` and its handler send (``UpdateBatch``), which is preserved together with
    /// that value; what is sent to chosen centrals, and by `indicate`, takes its usual way. The values of a subscriber are
    /// sent in their order, as indications to one that has asked for these, and are kept until they have left this device, as far
    /// as is known (``PeripheralSession/pacing``), or the central has confirmed. What was sent since the last save before a
    /// kill, or was under way when its central left or the program ended, comes again, in order. Where BlueZ cannot reach a
    /// central alone, what is kept for it goes once to all who have subscribed, also to those who have got it already; who
    /// cannot get it then, such as on a link not yet encrypted, gets it later. What is kept for a subscriber that is not bonded goes
    /// when it leaves or the program ends. A subscriber whom the stack does not name gets nothing.
    ///
    /// When as many wait for a subscriber who is there as may, ``PeripheralSession/update(_:_:)`` is `false`, and
    /// ``PeripheralSession/readyToUpdate(_:)`` and ``PeripheralSession/notify(_:_:)-(_,Value)`` wait. One who is away may never
    /// return: it holds up nobody, and gets the newest, up to that number. ``RestorationStatistics/droppedUpdates`` counts those
    /// that went for newer ones. What a central writes to a ``PersistentValue`` waits for nobody: it is kept beyond that number.
    /// All subscribers together have at most 4,096; beyond that, the oldest go of the one that has the most.
    ///
    /// - Parameter count: How many values wait for one subscriber at most; 1 or more.
    /// - Returns: The policy.
    public static func durable(beyond count: Int) -> UpdatePolicy {
        UpdatePolicy(kind: .reject(count: 16, bytes: 16 * maximumValueLength), durableLimit: count)
    }

    /// How many values of a characteristic may be on their way to a central.
    ///
    /// The newest shall be new when it arrives: one is being sent, and one is there when that is done.
    var inFlightLimit: Int {
        switch kind {
        case .reject: .max
        case .latest: 2
        }
    }

    /// Whether a queue can do that at all.
    var isPossible: Bool {
        switch kind {
        case .reject(let count, let bytes): count >= 1 && bytes >= 1 && durableLimit ?? 1 >= 1
        case .latest: true
        }
    }
}
