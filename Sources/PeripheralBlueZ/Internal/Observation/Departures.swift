internal import PeripheralCore
internal import PeripheralKit

/// The updates that bluetoothd has been given, until they have left.
///
/// Those of an attribute leave for a central in the order in which they were given. A pure value: what was given, taken and
/// seen in, what there is to report out. There are few of all that it knows, so that it looks through arrays.
struct Departures {
    /// The updates of an attribute for a central, which keep their order.
    private struct Way {
        var attribute: AttributeHandle
        var central: Central.ID
        /// Those that have not left; `nil` for one whose leaving nobody waits for.
        var updates: [PeripheralKit.Update.ID?] = []
        /// Whether nothing has come of what was given last: bluetoothd may know that the central has unsubscribed.
        var isDeserted = false
        /// How many looks in a row have shown nothing of the central.
        var quietLooks = 0
        /// How many looks there were since something went unseen; `nil` when nothing did.
        var doubtfulLooks: Int?
    }

    private struct Update {
        var id: PeripheralKit.Update.ID
        /// For how many centrals it has still to leave.
        var missing: Int
        /// Whether socket or bus have taken it.
        var isTaken = false
        /// Whether it has left for anybody, or may have.
        var hasLeft = false
    }

    /// So many looks in a row have to show nothing of a central, until what is missing counts as lost.
    private static let quietLooks = 2
    /// After so many looks, what was missing when something went unseen counts as lost, whatever moves.
    private static let doubtfulLooks = 20

    private var ways: [Way] = []
    private var updates: [Update] = []

    /// Whether all have left.
    var isEmpty: Bool { ways.allSatisfy(\.updates.isEmpty) }

    /// Whether something went unseen, so that it is to be looked at the links soon.
    var isInDoubt: Bool { ways.contains { $0.doubtfulLooks != nil } }

    /// Takes note that bluetoothd is being given an update, for these centrals; `nil` is one whose leaving nobody waits
    /// for.
    mutating func given(
        _ id: PeripheralKit.Update.ID?,
        of attribute: AttributeHandle,
        for centrals: [Central.ID]
    ) {
        var receivers = centrals.map { index(of: attribute, for: $0) }
        // Those who get it set the pace, not those who do not.
        if receivers.contains(where: { !ways[$0].isDeserted }) { receivers.removeAll { ways[$0].isDeserted } }
        guard !receivers.isEmpty else { return }
        if let id { updates.append(Update(id: id, missing: receivers.count)) }
        for index in receivers {
            ways[index].updates.append(id)
            moved(ways[index].central)
        }
    }

    /// Takes note that socket or bus have taken an update, or not.
    mutating func taken(_ id: PeripheralKit.Update.ID, _ outcome: UpdateOutcome) -> BackendEvent? {
        // One that was not given is one of which nobody sees when it leaves.
        guard let index = updates.firstIndex(where: { $0.id == id }) else { return .updateEnded(id, outcome) }
        updates[index].isTaken = true
        switch outcome {
        case .delivered where updates[index].missing > 0: return .updateTaken(id)
        case .delivered: break
        case .failed: withdraw(id)
        }
        updates.removeAll { $0.id == id }
        return .updateEnded(id, outcome)
    }

    /// Takes note that bluetoothd has not been given an update after all.
    mutating func withdraw(_ id: PeripheralKit.Update.ID) {
        for index in ways.indices { ways[index].updates.removeAll { $0 == id } }
        updates.removeAll { $0.id == id }
    }

    /// Takes note that an update was seen to leave.
    mutating func departed(_ attribute: AttributeHandle, for central: Central.ID) -> BackendEvent? {
        moved(central)
        guard let index = existingIndex(of: attribute, for: central) else { return nil }
        ways[index].isDeserted = false
        // Nobody knows which it was: the link is to run empty first.
        guard ways[index].doubtfulLooks == nil, !ways[index].updates.isEmpty else { return nil }
        return left(ways[index].updates.removeFirst())
    }

    /// Takes note that something went unseen: until nothing moves any more, nothing counts as having left.
    mutating func missed() {
        for index in ways.indices where !ways[index].updates.isEmpty && ways[index].doubtfulLooks == nil {
            ways[index].doubtfulLooks = 0
        }
    }

    /// Takes note that a central is gone: what has not left for it does not any more.
    mutating func settled(_ central: Central.ID) -> [BackendEvent] {
        var events: [BackendEvent] = []
        for index in ways.indices where ways[index].central == central {
            settle(index, isLost: true, &events)
        }
        ways.removeAll { $0.central == central }
        return events
    }

    /// Takes note of a look at the links, after bluetoothd has said that it is idle.
    ///
    /// What was given to it for a central, and is not on the link of that central either, does not come any more: it was
    /// not sent, or where it could not be seen.
    ///
    /// - Parameter isBusy: Whether there is anything on the link of a central.
    /// - Returns: What there is to report.
    mutating func looked(_ isBusy: (Central.ID) -> Bool) -> [BackendEvent] {
        var events: [BackendEvent] = []
        for index in ways.indices where !ways[index].updates.isEmpty {
            let way = ways[index]
            ways[index].quietLooks = isBusy(way.central) ? 0 : way.quietLooks + 1
            ways[index].doubtfulLooks = way.doubtfulLooks.map { $0 + 1 }
            let isOver = ways[index].doubtfulLooks == Self.doubtfulLooks
            guard isOver || ways[index].quietLooks == Self.quietLooks else { continue }
            ways[index].isDeserted = way.doubtfulLooks == nil
            settle(index, isLost: false, &events)
        }
        return events
    }

    private func existingIndex(of attribute: AttributeHandle, for central: Central.ID) -> Int? {
        ways.firstIndex { $0.attribute == attribute && $0.central == central }
    }

    /// The place of a way, which is made when there is none.
    private mutating func index(of attribute: AttributeHandle, for central: Central.ID) -> Int {
        if let index = existingIndex(of: attribute, for: central) { return index }
        ways.append(Way(attribute: attribute, central: central))
        return ways.count - 1
    }

    /// The link of a central carries something.
    private mutating func moved(_ central: Central.ID) {
        for index in ways.indices where ways[index].central == central { ways[index].quietLooks = 0 }
    }

    private mutating func settle(_ index: Int, isLost: Bool, _ events: inout [BackendEvent]) {
        for case let id? in ways[index].updates {
            if let event = left(id, isLost: isLost) { events.append(event) }
        }
        (ways[index].updates, ways[index].quietLooks, ways[index].doubtfulLooks) = ([], 0, nil)
    }

    private mutating func left(_ id: PeripheralKit.Update.ID?, isLost: Bool = false) -> BackendEvent? {
        guard let id, let index = updates.firstIndex(where: { $0.id == id }) else { return nil }
        updates[index].missing -= 1
        if !isLost { updates[index].hasLeft = true }
        // Otherwise it ends when it is taken, which is still to be told.
        guard updates[index].missing == 0, updates[index].isTaken else { return nil }
        return .updateEnded(id, updates.remove(at: index).hasLeft ? .delivered : .failed(.centralGone))
    }
}

extension PeripheralError {
    fileprivate static let centralGone = PeripheralError(
        code: .disconnected,
        message: "The central was gone before the value was seen to leave."
    )
}
