/// The updates in flight, by their rising identifiers.
///
/// Updates mostly complete in order. Completed updates at the front are removed from the array only when they
/// outnumber the other updates.
struct InFlightTable {
    private var entries: [(id: BackendUpdate.ID, inFlightUpdate: TransmitQueues.InFlightUpdate)] = []
    /// The number of completed entries at the front.
    private var left = 0

    /// Adds an update whose identifier is higher than all earlier identifiers.
    mutating func append(_ inFlightUpdate: TransmitQueues.InFlightUpdate, _ id: BackendUpdate.ID) {
        entries.append((id, inFlightUpdate))
    }

    /// Changes an entry if it exists.
    mutating func change<Outcome>(
        _ id: BackendUpdate.ID,
        _ change: (inout TransmitQueues.InFlightUpdate) -> Outcome?
    ) -> Outcome? {
        index(of: id).flatMap { change(&entries[$0].inFlightUpdate) }
    }

    mutating func changeAll(_ change: (inout TransmitQueues.InFlightUpdate) -> Void) {
        for index in entries.indices.dropFirst(left) { change(&entries[index].inFlightUpdate) }
    }

    mutating func remove(_ id: BackendUpdate.ID) -> TransmitQueues.InFlightUpdate? {
        guard let index = index(of: id) else { return nil }
        guard index == left else { return entries.remove(at: index).inFlightUpdate }
        let inFlightUpdate = entries[index].inFlightUpdate
        left += 1
        if left > entries.count / 2 {
            entries.removeFirst(left)
            left = 0
        }
        return inFlightUpdate
    }

    mutating func removeAll() -> [TransmitQueues.InFlightUpdate] {
        defer { (entries, left) = ([], 0) }
        return all
    }

    /// Returns whether an entry exists and meets the condition.
    func contains(_ id: BackendUpdate.ID, where isMeant: (TransmitQueues.InFlightUpdate) -> Bool) -> Bool {
        index(of: id).map { isMeant(entries[$0].inFlightUpdate) } ?? false
    }

    /// Returns whether one of the updates before a number meets the condition.
    func contains(before number: UInt64, where isMeant: (TransmitQueues.InFlightUpdate) -> Bool) -> Bool {
        entries.dropFirst(left).prefix { $0.id.number < number }.contains { isMeant($0.inFlightUpdate) }
    }

    var all: [TransmitQueues.InFlightUpdate] { entries.dropFirst(left).map(\.inFlightUpdate) }

    private func index(of id: BackendUpdate.ID) -> Int? {
        var (low, high) = (left, entries.count)
        guard low < high, id.number >= entries[low].id.number else { return nil }
        // The index, as long as no update in between has completed.
        let distance = id.number - entries[low].id.number
        if distance < high - low, entries[low + Int(distance)].id == id { return low + Int(distance) }
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].id.number < id.number { low = middle + 1 } else { high = middle }
        }
        return low < entries.count && entries[low].id == id ? low : nil
    }
}
