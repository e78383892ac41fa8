internal import PeripheralCore
internal import PeripheralKit

/// The updates that bluetoothd has been given, until they have left.
///
/// Those of an attribute leave for a central in the order in which they were given. A pure value: what was given, taken and
/// seen in, what there is to report out. There are few of all that it knows, so that it looks through arrays.
struct InFlightUpdates {
    /// The updates of an attribute for a central, which keep their order.
    private struct Way {
        var attribute: AttributeHandle
        var central: Central.ID
        /// Those that have not left.
        var updates: [Given] = []
        /// Whether nothing has come of what was given last: bluetoothd may know that the central has unsubscribed.
        var isDeserted = false
        /// How many looks in a row have shown nothing of the central.
        var quietLooks = 0
        /// What was given first after each of two looks that have found the first of these missing: all that was given
        /// before the one was handed on when the other began.
        var looks: [UInt64] = []
        /// Whether something has left for the central that was given after both.
        var isOvertaken = false
    }

    private struct Given {
        /// `nil` for one whose leaving nobody waits for.
        var id: PeripheralKit.Update.ID?
        /// Its place among all that were given.
        var number: UInt64
    }

    private struct Update {
        var id: PeripheralKit.Update.ID
        /// For how many centrals it has still to leave.
        var missing: Int
        /// Whether socket or bus have taken it.
        var isTaken = false
        /// Whether it has left for anybody, as far as is known.
        var isCompleted = false
        /// Whether nobody knows what has become of it for somebody who is there.
        var isGivenUp = false

        var outcome: UpdateOutcome { isCompleted ? .delivered : isGivenUp ? .givenUp : .failed(.centralGone) }
    }

    /// What has become of an update for a central: given up, nobody looks for it any more; lost, the central is gone.
    private enum Fate { case completed, givenUp, lost }

    /// So many looks in a row have to show nothing of a central, until what is missing counts as lost.
    private static let quietLooks = 2

    private var ways: [Way] = []
    private var updates: [Update] = []
    /// The centrals of which something went unseen.
    private var doubts: [FrameLossRecovery] = []
    private var nextNumber: UInt64 = 0

    /// Whether all have left.
    var isEmpty: Bool { ways.allSatisfy(\.updates.isEmpty) }

    /// Whether something went unseen, so that it is to be looked at the links soon.
    var isInDoubt: Bool { doubts.contains { $0.isUrgent && missing(for: $0.central) > 0 } }

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
            ways[index].updates.append(Given(id: id, number: nextNumber))
            moved(ways[index].central)
            doubt(of: ways[index].central) { $0.given() }
        }
        nextNumber += 1
    }

    /// Takes note that socket or bus have taken an update, or not.
    mutating func taken(_ id: PeripheralKit.Update.ID, _ outcome: UpdateOutcome) -> BackendEvent? {
        // One that was not given is one of which nobody sees when it leaves.
        guard let index = updates.firstIndex(where: { $0.id == id }) else { return .updateEnded(id, outcome) }
        updates[index].isTaken = true
        switch outcome {
        case .delivered where updates[index].missing > 0: return .updateTaken(id)
        case .delivered where updates[index].isGivenUp || updates[index].isCompleted:
            return .updateEnded(id, updates.remove(at: index).outcome)
        case .delivered, .givenUp: break
        case .failed: withdraw(id)
        }
        updates.removeAll { $0.id == id }
        return .updateEnded(id, outcome)
    }

    /// Takes note that bluetoothd has not been given an update after all.
    mutating func withdraw(_ id: PeripheralKit.Update.ID) {
        for index in ways.indices { ways[index].updates.removeAll { $0.id == id } }
        updates.removeAll { $0.id == id }
    }

    /// Takes note that an update was seen to leave.
    mutating func completed(_ attribute: AttributeHandle, for central: Central.ID) -> BackendEvent? {
        moved(central)
        guard let index = existingIndex(of: attribute, for: central) else { return nil }
        ways[index].isDeserted = false
        // Nobody knows which it was: the link is to run empty first.
        guard doubt(of: central, { $0.completed() }) == nil, !ways[index].updates.isEmpty else { return nil }
        let given = ways[index].updates.removeFirst()
        (ways[index].looks, ways[index].isOvertaken) = ([], false)
        for other in ways.indices where ways[other].central == central && ways[other].looks.count == 2 {
            if given.number >= ways[other].looks[1] { ways[other].isOvertaken = true }
        }
        return ended(given.id, .completed)
    }

    /// Takes note that something went unseen: until the links are known again, nothing counts as having left.
    mutating func missed() {
        for index in doubts.indices { doubts[index].missed() }
        for way in ways where !way.updates.isEmpty { beginDoubt(of: way.central) }
    }

    /// Takes note that a central is gone: what has not left for it does not any more.
    mutating func settled(_ central: Central.ID) -> [BackendEvent] {
        var events: [BackendEvent] = []
        for index in ways.indices where ways[index].central == central {
            settle(index, .lost, &events)
        }
        ways.removeAll { $0.central == central }
        doubts.removeAll { $0.central == central }
        return events
    }

    /// Takes note of a look at the links, after bluetoothd has said that it is idle.
    ///
    /// What was given to it for a central, and is not on the link of that central either, does not come any more: it was
    /// not sent, or where it could not be seen. Neither does what was overtaken by something given later: bluetoothd hands on
    /// in their order what one central is to get. After something went unseen, ``FrameLossRecovery`` tells what that look is worth.
    ///
    /// - Parameters:
    ///   - isBusy: Whether there is anything on the link of a central; `nil` when something for it may wait for others.
    ///   - hasCompleted: Whether that link has carried something since the last look.
    ///   - isForgotten: Whether nobody knows any more what it may hold.
    /// - Returns: What there is to report.
    mutating func looked(
        _ isBusy: (Central.ID) -> Bool?,
        hasCompleted: (Central.ID) -> Bool = { _ in false },
        isForgotten: (Central.ID) -> Bool = { _ in false }
    ) -> [BackendEvent] {
        var events: [BackendEvent] = []
        // What a link holds on which nothing comes through, and was not seen, leaves the controller no room for others.
        let mayBeHeldUp = doubts.contains { !$0.works }
        for index in ways.indices where !ways[index].updates.isEmpty && !isDoubtful(ways[index].central) {
            if let isBusy = isBusy(ways[index].central) {
                ways[index].quietLooks = isBusy ? 0 : ways[index].quietLooks + 1
            }
            if ways[index].isOvertaken {
                settleOvertaken(index, &events)
                continue
            }
            if ways[index].looks.count < 2 { ways[index].looks.append(nextNumber) }
            guard ways[index].quietLooks >= Self.quietLooks else { continue }
            if mayBeHeldUp {
                beginDoubt(of: ways[index].central)
            } else {
                ways[index].isDeserted = true
                settle(index, .givenUp, &events)
            }
        }
        for central in doubts.map(\.central) {
            if isForgotten(central) { doubt(of: central) { $0.missed() } }
            lookedInDoubt(at: central, isBusy(central), hasCompleted(central), &events)
        }
        return events
    }

    private mutating func lookedInDoubt(
        at central: Central.ID,
        _ isBusy: Bool?,
        _ hasCompleted: Bool,
        _ events: inout [BackendEvent]
    ) {
        let missing = missing(for: central)
        let verdict = doubt(of: central) {
            $0.looked(isBusy: isBusy, hasCompleted: hasCompleted, missing: missing)
        }
        switch verdict {
        case .wait, nil: break
        case .release(let count):
            for _ in 0..<count { releaseOldest(for: central, .completed, &events) }
        case .releaseOfDeserted:
            for index in ways.indices where ways[index].central == central { ways[index].isDeserted = true }
            releaseOldest(for: central, .givenUp, &events)
        case .resolved:
            doubts.removeAll { $0.central == central }
            for index in ways.indices where ways[index].central == central {
                settle(index, .completed, &events)
            }
        }
    }

    private func isDoubtful(_ central: Central.ID) -> Bool {
        doubts.contains { $0.central == central }
    }

    private mutating func beginDoubt(of central: Central.ID) {
        if isDoubtful(central) { return }
        doubts.append(FrameLossRecovery(of: central))
        for index in ways.indices where ways[index].central == central {
            (ways[index].looks, ways[index].isOvertaken) = ([], false)
        }
    }

    /// Changes the doubt of a central; `nil` when there is none.
    @discardableResult
    private mutating func doubt<Result>(
        of central: Central.ID,
        _ change: (inout FrameLossRecovery) -> Result
    ) -> Result? {
        guard let index = doubts.firstIndex(where: { $0.central == central }) else { return nil }
        return change(&doubts[index])
    }

    /// How many have not left for a central.
    private func missing(for central: Central.ID) -> Int {
        ways.reduce(0) { $0 + ($1.central == central ? $1.updates.count : 0) }
    }

    private mutating func releaseOldest(
        for central: Central.ID,
        _ fate: Fate,
        _ events: inout [BackendEvent]
    ) {
        let candidates = ways.indices.filter { ways[$0].central == central && !ways[$0].updates.isEmpty }
        let oldest = candidates.min { ways[$0].updates[0].number < ways[$1].updates[0].number }
        guard let oldest else { return }
        if let event = ended(ways[oldest].updates.removeFirst().id, fate) { events.append(event) }
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

    private mutating func settleOvertaken(_ index: Int, _ events: inout [BackendEvent]) {
        let overtaken = ways[index].updates.prefix { $0.number < ways[index].looks[0] }
        ways[index].updates.removeFirst(overtaken.count)
        (ways[index].looks, ways[index].isOvertaken, ways[index].isDeserted) = ([], false, true)
        for id in overtaken.compactMap(\.id) {
            if let event = ended(id, .givenUp) { events.append(event) }
        }
    }

    private mutating func settle(_ index: Int, _ fate: Fate, _ events: inout [BackendEvent]) {
        for id in ways[index].updates.compactMap(\.id) {
            if let event = ended(id, fate) { events.append(event) }
        }
        (ways[index].updates, ways[index].quietLooks) = ([], 0)
        (ways[index].looks, ways[index].isOvertaken) = ([], false)
    }

    private mutating func ended(_ id: PeripheralKit.Update.ID?, _ fate: Fate) -> BackendEvent? {
        guard let id, let index = updates.firstIndex(where: { $0.id == id }) else { return nil }
        updates[index].missing -= 1
        switch fate {
        case .completed: updates[index].isCompleted = true
        case .givenUp: updates[index].isGivenUp = true
        case .lost: break
        }
        // Otherwise it ends when it is taken, which is still to be told.
        guard updates[index].missing == 0, updates[index].isTaken else { return nil }
        return .updateEnded(id, updates.remove(at: index).outcome)
    }
}

extension PeripheralError {
    fileprivate static let centralGone = PeripheralError(
        code: .disconnected,
        message: "The central was gone before the value was seen to leave."
    )
}
