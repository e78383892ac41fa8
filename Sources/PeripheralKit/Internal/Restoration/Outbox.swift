internal import PeripheralCore

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
        var update: PreservedUpdate

        var key: Key { Key(characteristic: update.characteristic, address: update.address) }
    }

    private(set) var entries: [Entry] = []
    private var begun: UInt64 = 0

    init(_ updates: [PreservedUpdate]) {
        for update in updates { append(update) }
    }

    /// What is preserved of it.
    var preserved: [PreservedUpdate] { entries.map(\.update) }

    /// Whose updates wait.
    var keys: Set<Key> { Set(entries.map(\.key)) }

    /// The update that is sent next.
    func first(for key: Key) -> Entry? {
        entries.first { $0.key == key }
    }

    /// Adds an update for each of these, if there is room for all of them.
    ///
    /// - Parameters:
    ///   - value: The new value.
    ///   - characteristic: The characteristic, by its value handle.
    ///   - addresses: Who is to get it.
    ///   - limit: How many updates of the characteristic may wait for one of them.
    /// - Returns: Whether there is.
    mutating func add(
        _ value: [UInt8],
        of characteristic: AttributeHandle,
        for addresses: [DeviceAddress],
        limit: Int
    )
        -> Bool
    {
        let hasRoom = addresses.allSatisfy { address in
            let key = Key(characteristic: characteristic, address: address)
            return entries.count { $0.key == key } < limit
        }
        guard hasRoom, entries.count + addresses.count <= PreservedSchema.maximumUpdates else { return false }
        for address in addresses {
            append(PreservedUpdate(characteristic: characteristic, address: address, value: value))
        }
        return true
    }

    private mutating func append(_ update: PreservedUpdate) {
        begun += 1
        entries.append(Entry(number: begun, update: update))
    }

    /// Drops an update that has been sent.
    mutating func remove(_ number: UInt64) {
        entries.removeAll { $0.number == number }
    }

    /// Drops the updates of those who are not expected any more.
    mutating func keep(_ keys: Set<Key>) {
        entries.removeAll { !keys.contains($0.key) }
    }
}
