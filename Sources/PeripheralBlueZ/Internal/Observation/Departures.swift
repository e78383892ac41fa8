internal import PeripheralCore
internal import PeripheralKit

/// The updates that bluetoothd has been given, until they have left.
///
/// Those of an attribute leave for a central in the order in which they were given. A pure value: what was given, taken and
/// seen in, what there is to report out.
struct Departures {
    /// What keeps its order: the updates of an attribute for a central.
    private struct Way: Hashable {
        var attribute: AttributeHandle
        var central: Central.ID
    }

    private struct Update {
        /// For how many centrals it has still to leave.
        var missing: Int
        /// Whether socket or bus have taken it.
        var isTaken = false
    }

    /// So many looks in a row have to show nothing of a central, until what is missing counts as lost.
    private static let quietLooks = 2
    /// After so many looks, what was missing when something went unseen counts as lost, whatever moves.
    private static let doubtfulLooks = 20

    /// In their order; `nil` for those whose leaving nobody waits for.
    private var ways: [Way: [PeripheralKit.Update.ID?]] = [:]
    private var updates: [PeripheralKit.Update.ID: Update] = [:]
    /// How many looks have shown nothing.
    private var quiet: [Central.ID: Int] = [:]
    /// The centrals of which something went unseen, with the looks since.
    private var doubtful: [Central.ID: Int] = [:]
    /// Where nothing has come of what was given last: bluetoothd may know that the central has unsubscribed.
    private var deserted: Set<Way> = []

    /// Whether all have left.
    var isEmpty: Bool { ways.isEmpty }

    /// Whether something went unseen, so that it is to be looked at the links soon.
    var isInDoubt: Bool { !doubtful.isEmpty }

    /// Takes note that bluetoothd is being given an update, for these centrals; `nil` is one whose leaving nobody waits
    /// for.
    mutating func given(
        _ id: PeripheralKit.Update.ID?,
        of attribute: AttributeHandle,
        for centrals: [Central.ID]
    ) {
        var ways = centrals.map { Way(attribute: attribute, central: $0) }
        // Those who get it set the pace, not those who do not.
        if ways.contains(where: { !deserted.contains($0) }) { ways.removeAll(where: deserted.contains) }
        guard !ways.isEmpty else { return }
        if let id { updates[id] = Update(missing: ways.count) }
        for way in ways {
            self.ways[way, default: []].append(id)
            quiet[way.central] = nil
        }
    }

    /// Takes note that socket or bus have taken an update, or not.
    mutating func taken(_ id: PeripheralKit.Update.ID, _ outcome: UpdateOutcome) -> BackendEvent? {
        // One that was not given is one of which nobody sees when it leaves.
        guard var update = updates[id] else { return .updateEnded(id, outcome) }
        update.isTaken = true
        updates[id] = update
        switch outcome {
        case .delivered where update.missing > 0: return .updateTaken(id)
        case .delivered: break
        case .failed: withdraw(id)
        }
        updates[id] = nil
        return .updateEnded(id, outcome)
    }

    /// Takes note that an update was seen to leave.
    mutating func departed(_ attribute: AttributeHandle, for central: Central.ID) -> BackendEvent? {
        quiet[central] = nil
        let way = Way(attribute: attribute, central: central)
        deserted.remove(way)
        // Nobody knows which it was: the link is to run empty first.
        guard doubtful[central] == nil else { return nil }
        let id = ways[way]?.removeFirst()
        if ways[way]?.isEmpty == true { ways[way] = nil }
        return id.flatMap { left($0) }
    }

    /// Takes note that something went unseen: until nothing moves any more, nothing counts as having left.
    mutating func missed() {
        for way in ways.keys where doubtful[way.central] == nil { doubtful[way.central] = 0 }
    }

    /// Takes note that nothing leaves for a central any more.
    mutating func settled(_ central: Central.ID) -> [BackendEvent] {
        quiet[central] = nil
        doubtful[central] = nil
        deserted = deserted.filter { $0.central != central }
        return settle(ways.keys.filter { $0.central == central })
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
        for central in Set(ways.keys.map(\.central)) {
            quiet[central] = isBusy(central) ? nil : quiet[central, default: 0] + 1
            let doubt = doubtful[central].map { $0 + 1 }
            doubtful[central] = doubt
            guard quiet[central] == Self.quietLooks || doubt == Self.doubtfulLooks else { continue }
            let lost = ways.keys.filter { $0.central == central }
            if doubt == nil { deserted.formUnion(lost) }
            (quiet[central], doubtful[central]) = (nil, nil)
            events += settle(lost)
        }
        return events
    }

    private mutating func settle(_ lost: [Way]) -> [BackendEvent] {
        lost.flatMap { way in ways.removeValue(forKey: way) ?? [] }
            .compactMap { id in id.flatMap { left($0) } }
    }

    private mutating func left(_ id: PeripheralKit.Update.ID) -> BackendEvent? {
        guard var update = updates[id] else { return nil }
        update.missing -= 1
        updates[id] = update
        // Otherwise it ends when it is taken, which is still to be told.
        guard update.missing == 0, update.isTaken else { return nil }
        updates[id] = nil
        return .updateEnded(id, .delivered)
    }

    private mutating func withdraw(_ id: PeripheralKit.Update.ID) {
        for way in Array(ways.keys) {
            ways[way]?.removeAll { $0 == id }
            if ways[way]?.isEmpty == true { ways[way] = nil }
        }
    }
}
