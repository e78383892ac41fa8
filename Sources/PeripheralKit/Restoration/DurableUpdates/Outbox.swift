internal import PeripheralCore

/// An update that is to be kept for each subscriber of a durable characteristic.
struct DurableUpdate {
    var characteristic: AttributeHandle
    var value: [UInt8]
    /// How many updates of the characteristic may wait for a subscriber.
    var limit: Int
}

/// The updates of durable characteristics that have not been sent yet, in their order.
struct Outbox {
    /// Whose updates of what.
    struct Key: Hashable {
        var characteristic: AttributeHandle
        var address: DeviceAddress
    }

    /// An update, and what tells it from all others of the run.
    struct Entry {
        var number: UInt64
        /// The same for a value that was kept for several subscribers at once.
        var post: UInt64
        var update: PreservedUpdate
        /// The change that has to be saved before it is sent; 0 when it need not wait.
        var change: UInt64 = 0

        var key: Key { Key(characteristic: update.characteristic, address: update.address) }
    }

    private(set) var entries: [Entry] = []
    private var begun: UInt64 = 0
    private var posts: UInt64 = 0

    /// Makes the outbox of what was preserved: the same value for one subscriber after the other was kept at once, or may
    /// be sent so.
    init(_ updates: [PreservedUpdate]) {
        var together: [PreservedUpdate] = []
        for update in updates {
            let isOfPost = together.allSatisfy { other in
                (other.characteristic, other.value) == (update.characteristic, update.value)
                    && other.address != update.address
            }
            if !isOfPost || together.isEmpty { (together, posts) = ([], posts + 1) }
            together.append(update)
            append(update)
        }
    }

    /// What is preserved of it.
    var preserved: [PreservedUpdate] { entries.map(\.update) }

    /// Whose updates wait.
    var keys: Set<Key> { Set(entries.map(\.key)) }

    /// The first update but for these.
    func next(for key: Key, besides numbers: [UInt64]) -> Entry? {
        entries.first { $0.key == key && !numbers.contains($0.number) }
    }

    /// Whether there is room for an update for each of these, for which none has to go.
    func hasRoom(of characteristic: AttributeHandle, for addresses: [DeviceAddress], limit: Int) -> Bool {
        addresses.allSatisfy { count(of: Key(characteristic: characteristic, address: $0)) < limit }
    }

    private func count(of key: Key) -> Int { entries.count { $0.key == key } }

    /// Adds an update for each of these; where there is no room for it, the oldest of the same go or, when there are as
    /// many as are preserved at all, the oldest of who has the most waiting: who does not keep up takes nothing from others.
    ///
    /// - Parameters:
    ///   - value: The new value.
    ///   - characteristic: The characteristic, by its value handle.
    ///   - addresses: Who is to get it.
    ///   - limit: How many updates of the characteristic may wait for one of them.
    ///   - present: Those for whom more may wait, rather than that one goes which was promised to be kept.
    ///   - change: The change that has to be saved before it is sent; 0 when it need not wait.
    /// - Returns: How many went.
    mutating func add(
        _ value: [UInt8],
        of characteristic: AttributeHandle,
        for addresses: [DeviceAddress],
        limit: Int,
        sparing present: [DeviceAddress] = [],
        after change: UInt64 = 0
    ) -> Int {
        var dropped = 0
        posts += 1
        for address in addresses {
            let update = PreservedUpdate(characteristic: characteristic, address: address, value: value)
            append(update, after: change)
            let key = Key(characteristic: characteristic, address: address)
            let surplus = present.contains(address) ? 0 : count(of: key) - limit
            for _ in 0..<max(surplus, entries.count - PreservedSchema.maximumUpdates, 0) {
                removeOldest(of: surplus > 0 ? key : fullest)
                dropped += 1
            }
        }
        return dropped
    }

    /// Whose updates are the most.
    private var fullest: Key? {
        var counts: [Key: Int] = [:]
        for entry in entries { counts[entry.key, default: 0] += 1 }
        return counts.max { $0.value < $1.value }?.key
    }

    private mutating func removeOldest(of key: Key?) {
        guard let oldest = entries.firstIndex(where: { $0.key == key }) else { return }
        entries.remove(at: oldest)
    }

    private mutating func append(_ update: PreservedUpdate, after change: UInt64 = 0) {
        begun += 1
        entries.append(Entry(number: begun, post: posts, update: update, change: change))
    }

    /// Drops an update that has been sent.
    mutating func remove(_ number: UInt64) {
        entries.removeAll { $0.number == number }
    }

    /// Takes note that a subscriber is known by another address, under which the same values may have been kept for it.
    mutating func move(from former: DeviceAddress, to address: DeviceAddress) {
        let posts = Set(entries.filter { $0.update.address == former }.map(\.post))
        entries.removeAll { $0.update.address == address && posts.contains($0.post) }
        for index in entries.indices where entries[index].update.address == former {
            entries[index].update.address = address
        }
    }

    /// Drops the updates of those who are not expected any more.
    mutating func keep(_ keys: Set<Key>) {
        entries.removeAll { !keys.contains($0.key) }
    }
}
