/// The values that were submitted and have not left, by the numbers of their updates.
///
/// These rise, so that they stand in their order. What was submitted first mostly leaves first, and is dropped from the
/// array only once there is more of it than of what is left.
struct FlightTable {
    private var entries: [(id: Update.ID, flight: TransmitQueues.Flight)] = []
    /// How many of the first have left.
    private var left = 0

    /// Adds the flight of an update whose number is higher than all so far.
    mutating func append(_ flight: TransmitQueues.Flight, _ id: Update.ID) {
        entries.append((id, flight))
    }

    /// Changes one, if it is there.
    mutating func change<Outcome>(
        _ id: Update.ID,
        _ change: (inout TransmitQueues.Flight) -> Outcome?
    ) -> Outcome? {
        index(of: id).flatMap { change(&entries[$0].flight) }
    }

    mutating func changeAll(_ change: (inout TransmitQueues.Flight) -> Void) {
        for index in entries.indices.dropFirst(left) { change(&entries[index].flight) }
    }

    mutating func remove(_ id: Update.ID) -> TransmitQueues.Flight? {
        guard let index = index(of: id) else { return nil }
        guard index == left else { return entries.remove(at: index).flight }
        let flight = entries[index].flight
        left += 1
        if left > entries.count / 2 {
            entries.removeFirst(left)
            left = 0
        }
        return flight
    }

    mutating func removeAll() -> [TransmitQueues.Flight] {
        defer { (entries, left) = ([], 0) }
        return all
    }

    /// Whether one is there and is meant.
    func contains(_ id: Update.ID, where isMeant: (TransmitQueues.Flight) -> Bool) -> Bool {
        index(of: id).map { isMeant(entries[$0].flight) } ?? false
    }

    /// Whether one of the updates before a number is meant.
    func contains(before number: UInt64, where isMeant: (TransmitQueues.Flight) -> Bool) -> Bool {
        entries.dropFirst(left).prefix { $0.id.number < number }.contains { isMeant($0.flight) }
    }

    var all: [TransmitQueues.Flight] { entries.dropFirst(left).map(\.flight) }

    private func index(of id: Update.ID) -> Int? {
        var (low, high) = (left, entries.count)
        guard low < high, id.number >= entries[low].id.number else { return nil }
        // Where it stands as long as none in between has left.
        let distance = id.number - entries[low].id.number
        if distance < high - low, entries[low + Int(distance)].id == id { return low + Int(distance) }
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].id.number < id.number { low = middle + 1 } else { high = middle }
        }
        return low < entries.count && entries[low].id == id ? low : nil
    }
}
