internal import PeripheralCore

/// The values that centrals are reading in parts.
///
/// A long read is one request for each part, and between two of them the value may change. Each central
/// therefore reads on in the value that it began with.
struct ReadSnapshots {
    private struct Key: Hashable {
        var central: Central
        var attribute: AttributeHandle
    }

    private struct Snapshot {
        var value: [UInt8]
        var begin: Duration
    }

    /// A central asks for the next part at once; what it asks for much later is another read.
    static let lifetime = Duration.seconds(30)

    /// A central that never finishes its long reads must not fill the memory: the oldest value goes first.
    private let capacity: Int
    private var snapshots: [Key: Snapshot] = [:]
    private var order: [Key] = []

    init(capacity: Int = 64) {
        self.capacity = capacity
    }

    /// The value that the central has begun to read, for its next part; forgotten with the last one.
    mutating func value(for request: ReadRequest, at now: Duration) -> [UInt8]? {
        let key = Key(central: request.central, attribute: request.attribute)
        guard let snapshot = snapshots[key] else { return nil }
        guard now - snapshot.begin <= Self.lifetime else {
            remove(key)
            return nil
        }
        if snapshot.value.count - request.offset < request.central.mtu - 1 { remove(key) }
        return snapshot.value
    }

    /// Keeps the value that a central begins to read, when there will be further parts.
    mutating func begin(_ request: ReadRequest, with value: [UInt8], at now: @autoclosure () -> Duration) {
        let key = Key(central: request.central, attribute: request.attribute)
        guard request.offset == 0, value.count >= Self.leastPart(of: request.central) else {
            return remove(key)
        }
        let replaced = snapshots.updateValue(Snapshot(value: value, begin: now()), forKey: key)
        guard order.last != key else { return }
        if replaced != nil {
            order.removeAll { $0 == key }
        } else if order.count == capacity {
            snapshots[order.removeFirst()] = nil
        }
        order.append(key)
    }

    /// Drops all values of a central that is gone.
    mutating func forget(_ central: Central.ID) {
        for key in order where key.central.id == central { remove(key) }
    }

    private mutating func remove(_ key: Key) {
        guard !snapshots.isEmpty, snapshots.removeValue(forKey: key) != nil else { return }
        order.removeAll { $0 == key }
    }

    /// How much of a value the first answer carries at least.
    ///
    /// It is least in the answer to a read by type (Core Specification, Vol 3, Part F, 3.4.4.2). A value that fills it exactly is also followed by a request, which finds that nothing is left.
    private static func leastPart(of central: Central) -> Int {
        min(central.mtu - 4, 253)
    }
}
