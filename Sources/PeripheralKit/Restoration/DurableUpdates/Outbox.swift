internal import PeripheralCore

/// An update that is retained for each subscriber of a durable characteristic.
struct DurableUpdate {
    var characteristic: AttributeHandle
    var value: [UInt8]
    /// The number of updates of the characteristic that may wait for a subscriber.
    var limit: Int
}

/// The unsent updates of durable characteristics, in order.
struct Outbox {
    /// A characteristic and a subscriber.
    struct Key: Hashable {
        var characteristic: AttributeHandle
        var address: DeviceAddress
    }

    /// An update with a number that is unique in the run.
    struct Entry {
        var number: UInt64
        /// Entries of a value that was retained for several subscribers at once have equal numbers.
        var post: UInt64
        var update: PreservedUpdate
        /// The number of the change that must be saved before the update is sent; 0 for none.
        var change: UInt64 = 0

        var key: Key { Key(characteristic: update.characteristic, address: update.address) }
    }

    private(set) var entries: [Entry] = []
    private var begun: UInt64 = 0
    private var posts: UInt64 = 0

    /// Creates the outbox from preserved updates.
    ///
    /// Successive equal values for several subscribers are treated like one value that was retained at once.
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

    /// The updates in the form of the preserved state.
    var preserved: [PreservedUpdate] { entries.map(\.update) }

    /// Returns the first update, except the given updates.
    func next(for key: Key, besides numbers: [UInt64]) -> Entry? {
        entries.first { $0.key == key && !numbers.contains($0.number) }
    }

    /// Returns whether each of these subscribers has room for an update without dropping another update.
    func hasRoom(of characteristic: AttributeHandle, for addresses: [DeviceAddress], limit: Int) -> Bool {
        addresses.allSatisfy { count(of: Key(characteristic: characteristic, address: $0)) < limit }
    }

    private func count(of key: Key) -> Int { entries.count { $0.key == key } }

    /// Adds an update for each of these subscribers.
    ///
    /// If there is no room, the oldest update of the same subscriber and characteristic is dropped. If the
    /// limit of all preserved updates is reached, the oldest update of the subscriber with the most waiting
    /// updates is dropped. A slow subscriber therefore does not reduce the room for other subscribers.
    ///
    /// - Parameters:
    ///   - value: The new value.
    ///   - characteristic: The characteristic, by its value handle.
    ///   - addresses: The subscribers.
    ///   - limit: The number of updates of the characteristic that may wait for one subscriber.
    ///   - present: Subscribers whose limit does not apply, because a retained update must not be dropped.
    ///   - change: The number of the change that must be saved before the update is sent; 0 for none.
    /// - Returns: The number of dropped updates.
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

    /// The characteristic and subscriber with the most updates.
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

    /// Removes an update that has been sent.
    mutating func remove(_ number: UInt64) {
        entries.removeAll { $0.number == number }
    }

    /// Changes the address of a subscriber.
    ///
    /// The same values may also be retained for the new address.
    mutating func move(from former: DeviceAddress, to address: DeviceAddress) {
        let posts = Set(entries.filter { $0.update.address == former }.map(\.post))
        entries.removeAll { $0.update.address == address && posts.contains($0.post) }
        for index in entries.indices where entries[index].update.address == former {
            entries[index].update.address = address
        }
    }

    /// Removes the updates of subscribers that are no longer expected.
    mutating func keep(_ keys: Set<Key>) {
        entries.removeAll { !keys.contains($0.key) }
    }
}
