/// An update in flight.
struct InFlightUpdate {
    enum Kind: Equatable {
        case value
        /// A value that is sent to all together if the stack cannot reach its subscriber alone.
        case valueWithFallback([UInt8], sequence: UInt64)
        /// A part of a document.
        case chunk(bytes: Int)
        /// A value that each recipient confirms.
        case indication
    }

    let kind: Kind
    /// The index of the characteristic among those that can be updated.
    let characteristicIndex: Int
    /// `nil` when the subscription has ended since.
    var queue: SubscriberQueue.ID?
    /// The call that waits for the update; `nil` if no call waits any more.
    var ticket: TransmitQueues.Ticket?
    /// The subscribers for which the value is retained; empty for other values.
    var retained: [RetainedDelivery.Part] = []
    /// The connected subscribers that the update was sent to.
    var subscribers: [TransmitQueues.SubscriberID]
    /// Whether the update was sent to all subscribers together.
    let isForAll: Bool
    /// Whether each recipient confirms the update.
    ///
    /// Such an update does not count in the window of its recipients.
    let isConfirmed: Bool
    /// The time at which the update is given up; `nil` without confirmation.
    var deadline: Duration?
    /// Whether the update was given up.
    ///
    /// Its recipients get no other confirmed update until the update has ended.
    var isGivenUp = false

    var isChunk: Bool { if case .chunk = kind { true } else { false } }

    /// Whether the update is a value of a queue, not a chunk or an indication.
    var isValue: Bool {
        switch kind {
        case .value, .valueWithFallback: true
        case .chunk, .indication: false
        }
    }

    /// The lanes that a confirmed update uses.
    var lanes: [ConfirmedTurns.Lane] {
        guard isConfirmed else { return [] }
        return subscribers.compactMap { $0.map(ConfirmedTurns.Lane.central) }
            + (isForAll ? [.subscribers(characteristicIndex: characteristicIndex)] : [])
    }
}

/// The updates in flight, by their rising identifiers.
///
/// Updates mostly complete in order. Completed updates at the front are removed from the array only when they
/// outnumber the other updates.
struct InFlightTable {
    private var entries: [(id: BackendUpdate.ID, inFlightUpdate: InFlightUpdate)] = []
    /// The number of completed entries at the front.
    private var removedCount = 0

    /// Adds an update whose identifier is higher than all earlier identifiers.
    mutating func append(_ inFlightUpdate: InFlightUpdate, _ id: BackendUpdate.ID) {
        entries.append((id, inFlightUpdate))
    }

    /// Changes an entry if it exists.
    mutating func change<Outcome>(
        _ id: BackendUpdate.ID,
        _ change: (inout InFlightUpdate) -> Outcome?
    ) -> Outcome? {
        index(of: id).flatMap { change(&entries[$0].inFlightUpdate) }
    }

    mutating func changeAll(_ change: (inout InFlightUpdate) -> Void) {
        for index in entries.indices.dropFirst(removedCount) { change(&entries[index].inFlightUpdate) }
    }

    mutating func remove(_ id: BackendUpdate.ID) -> InFlightUpdate? {
        guard let index = index(of: id) else { return nil }
        guard index == removedCount else { return entries.remove(at: index).inFlightUpdate }
        let inFlightUpdate = entries[index].inFlightUpdate
        removedCount += 1
        if removedCount > entries.count / 2 {
            entries.removeFirst(removedCount)
            removedCount = 0
        }
        return inFlightUpdate
    }

    mutating func removeAll() -> [InFlightUpdate] {
        defer { (entries, removedCount) = ([], 0) }
        return all
    }

    /// Returns the identities of the entries that meet the condition.
    func ids(where isMeant: (InFlightUpdate) -> Bool) -> [BackendUpdate.ID] {
        entries.dropFirst(removedCount).filter { isMeant($0.inFlightUpdate) }.map(\.id)
    }

    /// Returns whether one of the updates before a number meets the condition.
    func contains(before number: UInt64, where isMeant: (InFlightUpdate) -> Bool) -> Bool {
        entries.dropFirst(removedCount).prefix { $0.id.number < number }.contains {
            isMeant($0.inFlightUpdate)
        }
    }

    var all: [InFlightUpdate] { entries.dropFirst(removedCount).map(\.inFlightUpdate) }

    private func index(of id: BackendUpdate.ID) -> Int? {
        var (low, high) = (removedCount, entries.count)
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
