internal import PeripheralCore
internal import PeripheralKit

/// The updates that bluetoothd has been given, until they are completed.
///
/// The updates of an attribute for a central are completed in the order in which they were given.
///
/// A pure value: updates that were given, taken and seen go in; events to report come out. All of its
/// collections are small, so it searches arrays.
struct InFlightUpdates {
    /// The updates of an attribute for a central, in their order.
    private struct Way {
        var attribute: AttributeHandle
        var central: Central.ID
        /// The updates that are not completed.
        var updates: [Given] = []
        /// Whether the last updates given were never completed: bluetoothd may know that the central has
        /// unsubscribed.
        var isDeserted = false
        /// The number of successive looks that have shown nothing of the central.
        var quietLooks = 0
        /// The number of the first update given after each of two looks that have found the oldest update
        /// missing.
        ///
        /// Updates given before the first look were sent when the second began.
        var looks: [UInt64] = []
        /// Whether an update for the central is completed that was given after both looks.
        var isOvertaken = false
    }

    private struct Given {
        /// `nil` for an update whose completion nothing waits for.
        var id: BackendUpdate.ID?
        /// The position among all updates that were given.
        var number: UInt64
    }

    private struct PendingUpdate {
        var id: BackendUpdate.ID
        /// The number of centrals for which it is not completed.
        var missing: Int
        /// Whether socket or bus have taken it.
        var isTaken = false
        /// Whether it is completed for any central, as far as is known.
        var isCompleted = false
        /// Whether its fate is unknown for a central that is connected.
        var isGivenUp = false

        var outcome: BackendUpdateOutcome {
            isCompleted ? .delivered : isGivenUp ? .givenUp : .failed(.centralGone)
        }
    }

    /// How an update ended for a central: given up means that its completion is no longer awaited; lost, that
    /// the central has disconnected.
    private enum Fate { case completed, givenUp, lost }

    /// The number of successive looks that must show nothing of a central before its missing updates are
    /// given up.
    private static let quietLooks = 2

    private var ways: [Way] = []
    private var updates: [PendingUpdate] = []
    /// The centrals for which something went unseen.
    private var doubts: [FrameLossRecovery] = []
    private var nextNumber: UInt64 = 0

    /// Whether all updates are completed.
    var isEmpty: Bool { ways.allSatisfy(\.updates.isEmpty) }

    /// Whether something went unseen, so that the next look at the links should come soon.
    var isInDoubt: Bool { doubts.contains { $0.isUrgent && missing(for: $0.central) > 0 } }

    /// Records that bluetoothd is being given an update for these centrals.
    ///
    /// - Parameters:
    ///   - id: The update; `nil` when nothing waits for its completion.
    ///   - attribute: The handle by which the update is seen.
    ///   - centrals: The recipients.
    mutating func given(
        _ id: BackendUpdate.ID?,
        of attribute: AttributeHandle,
        for centrals: [Central.ID]
    ) {
        var receivers = centrals.map { index(of: attribute, for: $0) }
        // Recipients that get the update set the pace, not those that do not.
        if receivers.contains(where: { !ways[$0].isDeserted }) { receivers.removeAll { ways[$0].isDeserted } }
        guard !receivers.isEmpty else { return }
        if let id { updates.append(PendingUpdate(id: id, missing: receivers.count)) }
        for index in receivers {
            ways[index].updates.append(Given(id: id, number: nextNumber))
            moved(ways[index].central)
            doubt(of: ways[index].central) { $0.given() }
        }
        nextNumber += 1
    }

    /// Records whether socket or bus have taken an update.
    mutating func taken(_ id: BackendUpdate.ID, _ outcome: BackendUpdateOutcome)
        -> BackendEvent?
    {
        // The completion of an update that was not recorded as given cannot be seen.
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

    /// Records that bluetoothd was not given an update after all.
    mutating func withdraw(_ id: BackendUpdate.ID) {
        for index in ways.indices { ways[index].updates.removeAll { $0.id == id } }
        updates.removeAll { $0.id == id }
    }

    /// Records that an update was seen to be completed.
    mutating func completed(_ attribute: AttributeHandle, for central: Central.ID) -> BackendEvent? {
        moved(central)
        guard let index = existingIndex(of: attribute, for: central) else { return nil }
        ways[index].isDeserted = false
        // It is unknown which update it was: the link must run empty first.
        guard doubt(of: central, { $0.completed() }) == nil, !ways[index].updates.isEmpty else { return nil }
        let given = ways[index].updates.removeFirst()
        (ways[index].looks, ways[index].isOvertaken) = ([], false)
        for other in ways.indices where ways[other].central == central && ways[other].looks.count == 2 {
            if given.number >= ways[other].looks[1] { ways[other].isOvertaken = true }
        }
        return ended(given.id, .completed)
    }

    /// Records that something went unseen: until the links are known again, no update counts as completed.
    mutating func missed() {
        for index in doubts.indices { doubts[index].missed() }
        for way in ways where !way.updates.isEmpty { beginDoubt(of: way.central) }
    }

    /// Records that a central has disconnected: updates that are not completed for it are lost.
    mutating func settled(_ central: Central.ID) -> [BackendEvent] {
        var events: [BackendEvent] = []
        for index in ways.indices where ways[index].central == central {
            settle(index, .lost, &events)
        }
        ways.removeAll { $0.central == central }
        doubts.removeAll { $0.central == central }
        return events
    }

    /// Records a look at the links, made after bluetoothd has shown that it is idle.
    ///
    /// An update that is not on the link of its central by then is not coming: it was not sent, or was sent
    /// where it could not be seen. The same holds for an update that a later one has overtaken, because
    /// bluetoothd sends the updates for one central in order. After something went unseen,
    /// ``FrameLossRecovery`` decides what the look means.
    ///
    /// - Parameters:
    ///   - isBusy: Whether there is anything on the link of a central; `nil` when something for it may wait
    ///     for others.
    ///   - hasCompleted: Whether that link has carried something since the last look.
    ///   - isForgotten: Whether it is no longer known what that link may hold.
    /// - Returns: The events to report.
    mutating func looked(
        _ isBusy: (Central.ID) -> Bool?,
        hasCompleted: (Central.ID) -> Bool = { _ in false },
        isForgotten: (Central.ID) -> Bool = { _ in false }
    ) -> [BackendEvent] {
        var events: [BackendEvent] = []
        // Unseen packets on a link that does not work occupy the room that the controller has for other
        // links.
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

    /// Changes the recovery of a central; `nil` when there is none.
    @discardableResult
    private mutating func doubt<Result>(
        of central: Central.ID,
        _ change: (inout FrameLossRecovery) -> Result
    ) -> Result? {
        guard let index = doubts.firstIndex(where: { $0.central == central }) else { return nil }
        return change(&doubts[index])
    }

    /// The number of updates that are not completed for a central.
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

    /// The index of the updates of an attribute for a central, which are added when there are none.
    private mutating func index(of attribute: AttributeHandle, for central: Central.ID) -> Int {
        if let index = existingIndex(of: attribute, for: central) { return index }
        ways.append(Way(attribute: attribute, central: central))
        return ways.count - 1
    }

    /// Records that the link of a central carries something.
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

    private mutating func ended(_ id: BackendUpdate.ID?, _ fate: Fate) -> BackendEvent? {
        guard let id, let index = updates.firstIndex(where: { $0.id == id }) else { return nil }
        updates[index].missing -= 1
        switch fate {
        case .completed: updates[index].isCompleted = true
        case .givenUp: updates[index].isGivenUp = true
        case .lost: break
        }
        // An update that is not taken yet ends when it is taken.
        guard updates[index].missing == 0, updates[index].isTaken else { return nil }
        return .updateEnded(id, updates.remove(at: index).outcome)
    }
}

extension PeripheralError {
    fileprivate static let centralGone = PeripheralError(
        code: .disconnected,
        message: "The central disconnected before the value was seen to leave the device."
    )
}
