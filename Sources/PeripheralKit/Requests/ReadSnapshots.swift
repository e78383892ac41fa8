internal import PeripheralCore

/// The values that centrals read in parts.
///
/// A long read consists of one request for each part, and the value may change between two requests.
/// Therefore, each central continues with the value that it began to read.
struct ReadSnapshots {
    private struct Snapshot {
        var attribute: AttributeHandle
        var value: [UInt8]
        var begin: Duration
        /// The time at which the last part was read.
        var lastRead: Duration
        /// Whether the central has read a further part.
        var isReadOn = false
        /// Whether the first answer to a plain read carries the whole value.
        var mayBeComplete: Bool
    }

    /// How long a value is available.
    ///
    /// A central requests the next part at once. A much later request belongs to another read.
    static let lifetime = Duration.seconds(30)

    /// The maximum number of values for each central.
    ///
    /// A central reads fewer values at once, with one read on each bearer.
    ///
    /// A central may never finish its long reads. The maximum prevents such a central from filling the memory
    /// or using the room of other centrals.
    static let capacity = 8

    /// The maximum number of centrals with values, above the number of links of an adapter.
    ///
    /// The values of a central are dropped when it disconnects, but a handler that ends later adds a value
    /// again. A central with private addresses appears as another central at each connection.
    static let centralCapacity = 128

    /// The values of each central.
    ///
    /// The value that a central has read last is the last element.
    private var snapshots: [Central.ID: [Snapshot]] = [:]

    /// Returns the value that the central has begun to read, for its next part.
    ///
    /// After the last part, the value is dropped.
    mutating func value(for request: BackendReadRequest, at now: Duration) -> [UInt8]? {
        guard var snapshot = remove(request.attribute, of: request.central),
            now - snapshot.begin <= Self.lifetime
        else { return nil }
        if snapshot.value.count - request.offset >= request.central.mtu - 1 {
            (snapshot.lastRead, snapshot.isReadOn) = (now, true)
            snapshots[request.central.id, default: []].append(snapshot)
        }
        return snapshot.value
    }

    /// Retains the value that a central begins to read, if the value has further parts.
    mutating func begin(
        _ request: BackendReadRequest,
        with value: [UInt8],
        at now: @autoclosure () -> Duration
    ) {
        _ = remove(request.attribute, of: request.central)
        guard request.offset == 0, value.count >= Self.leastPart(of: request.central) else { return }
        let now = now()
        makeRoom(for: request.central.id, at: now)
        var kept = snapshots[request.central.id] ?? []
        if kept.count == Self.capacity {
            kept.remove(at: kept.firstIndex(where: \.mayBeComplete) ?? 0)
        }
        kept.append(
            Snapshot(
                attribute: request.attribute,
                value: value,
                begin: now,
                lastRead: now,
                mayBeComplete: value.count < request.central.mtu - 1
            )
        )
        snapshots[request.central.id] = kept
    }

    /// Drops all values of a central that has disconnected.
    mutating func forget(_ central: Central.ID) {
        snapshots[central] = nil
    }

    /// Drops all values of attributes that no longer exist.
    mutating func forget(_ attributes: ClosedRange<AttributeHandle>) {
        snapshots = snapshots.mapValues { kept in kept.filter { !attributes.contains($0.attribute) } }
            .filter { !$0.value.isEmpty }
    }

    /// Drops the values of the central whose last read is the oldest, if there are too many centrals.
    ///
    /// A central that has read a further part of a value is dropped only if all other centrals have also read
    /// further parts.
    private mutating func makeRoom(for central: Central.ID, at now: Duration) {
        guard snapshots.count >= Self.centralCapacity, snapshots[central] == nil else { return }
        let ages = snapshots.mapValues { kept in
            let isReadingOn = kept.contains { $0.isReadOn && now - $0.begin <= Self.lifetime }
            return (isReadingOn ? 1 : 0, kept.last?.lastRead ?? .zero)
        }
        guard let stalest = ages.min(by: { $0.value < $1.value }) else { return }
        snapshots[stalest.key] = nil
    }

    private mutating func remove(_ attribute: AttributeHandle, of central: Central) -> Snapshot? {
        guard !snapshots.isEmpty, var kept = snapshots[central.id],
            let index = kept.firstIndex(where: { $0.attribute == attribute })
        else { return nil }
        let snapshot = kept.remove(at: index)
        snapshots[central.id] = kept.isEmpty ? nil : kept
        return snapshot
    }

    /// The minimum length of a value in the first response.
    ///
    /// The response to a read by type is the shortest (Core Specification, Vol 3, Part F, 3.4.4.2). The stack
    /// does not distinguish a read by type from a plain read. After a value of exactly this length, the
    /// central sends another request. The answer to that request contains no bytes.
    private static func leastPart(of central: Central) -> Int {
        min(central.mtu - 4, 253)
    }
}
