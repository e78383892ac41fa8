internal import PeripheralCore

/// The values that centrals are reading in parts.
///
/// A long read is one request for each part, and between two of them the value may change. Each central
/// therefore reads on in the value that it began with.
struct ReadSnapshots {
    private struct Snapshot {
        var attribute: AttributeHandle
        var value: [UInt8]
        var begin: Duration
        /// When the last part was read.
        var lastRead: Duration
        /// Whether the central has read a further part.
        var isReadOn = false
        /// Whether the first answer to a plain read carries the whole value.
        var mayBeComplete: Bool
    }

    /// A central asks for the next part at once; what it asks for much later is another read.
    static let lifetime = Duration.seconds(30)

    /// How many values are kept for each central: more than it reads at once, with one read on each of its bearers.
    ///
    /// A central that never finishes its long reads must not fill the memory, nor take the room of others.
    static let capacity = 8

    /// How many centrals values are kept for: more than an adapter has links.
    ///
    /// A central that is gone is forgotten, but a handler that ends after that leaves a value, and with private addresses
    /// each visit is that of another central.
    static let centralCapacity = 128

    /// The values of each central; the one that it has read last comes last.
    private var snapshots: [Central.ID: [Snapshot]] = [:]

    /// The value that the central has begun to read, for its next part; forgotten with the last one.
    mutating func value(for request: ReadRequest, at now: Duration) -> [UInt8]? {
        guard var snapshot = remove(request.attribute, of: request.central),
            now - snapshot.begin <= Self.lifetime
        else { return nil }
        if snapshot.value.count - request.offset >= request.central.mtu - 1 {
            (snapshot.lastRead, snapshot.isReadOn) = (now, true)
            snapshots[request.central.id, default: []].append(snapshot)
        }
        return snapshot.value
    }

    /// Keeps the value that a central begins to read, when there will be further parts.
    mutating func begin(_ request: ReadRequest, with value: [UInt8], at now: @autoclosure () -> Duration) {
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

    /// Drops all values of a central that is gone.
    mutating func forget(_ central: Central.ID) {
        snapshots[central] = nil
    }

    /// Drops the values of another central if there are too many: of the one that has read nothing for the longest time.
    ///
    /// One that reads on in a value goes only when all others do so, too.
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

    /// How much of a value the first answer carries at least.
    ///
    /// It is least in the answer to a read by type (Core Specification, Vol 3, Part F, 3.4.4.2), which the stack does not
    /// tell from a plain read. A value that fills it exactly is also followed by a request, which finds that nothing is
    /// left.
    private static func leastPart(of central: Central) -> Int {
        min(central.mtu - 4, 253)
    }
}
