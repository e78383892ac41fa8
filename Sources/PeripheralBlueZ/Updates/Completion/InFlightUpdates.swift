internal import PeripheralCore
internal import PeripheralKit

/// The updates that bluetoothd has received, until they are completed.
///
/// The updates of an attribute for a central are completed in the order in which bluetoothd received them.
///
/// The type is a pure value. It receives sent, accepted and observed updates, and returns the events to
/// report. All its collections are small, so it searches arrays.
struct InFlightUpdates {
    /// The updates of an attribute for a central, in the order in which bluetoothd received them.
    private struct Route {
        var attribute: AttributeHandle
        var central: Central.ID
        /// The updates that are not completed.
        var updates: [Given] = []
        /// Whether the last updates were never completed.
        ///
        /// The reason may be that bluetoothd knows that the central has unsubscribed.
        var isDeserted = false
        /// The number of successive looks that have shown no traffic of the central.
        var quietLooks = 0
        /// The number of the first update after each of two looks that have found the oldest update missing.
        ///
        /// Updates before the first look were sent when the second look began.
        var looks: [UInt64] = []
        /// Whether an update for the central that was sent after both looks is completed.
        var isOvertaken = false
    }

    private struct Given {
        /// The update; `nil` if its completion is not awaited.
        var id: BackendUpdate.ID?
        /// The position among all updates that bluetoothd received.
        var number: UInt64
    }

    private struct PendingUpdate {
        var id: BackendUpdate.ID
        /// The number of centrals for which the update is not completed.
        var missing: Int
        /// Whether the socket or the bus has accepted the update.
        var isTaken = false
        /// Whether the update is known to be completed for any central.
        var isCompleted = false
        /// Whether the fate of the update is unknown for a connected central.
        var isGivenUp = false

        var outcome: BackendUpdateOutcome {
            isCompleted ? .completed : isGivenUp ? .givenUp : .failed(.centralGone)
        }
    }

    /// The fate of an update for a central.
    ///
    /// Given up means that the completion is no longer awaited. Lost means that the central has disconnected.
    private enum Fate { case completed, givenUp, lost }

    /// The number of successive looks without traffic of a central after which its missing updates are given
    /// up.
    private static let quietLooks = 2

    private var routes: [Route] = []
    private var updates: [PendingUpdate] = []
    /// The recoveries of the centrals with missed frames.
    private var recoveries: [FrameLossRecovery] = []
    private var nextNumber: UInt64 = 0

    /// Whether all updates are completed.
    var isEmpty: Bool { routes.allSatisfy(\.updates.isEmpty) }

    /// Whether frames were missed, so the next look at the links should follow soon.
    var isUrgent: Bool { recoveries.contains { $0.isUrgent && missing(for: $0.central) > 0 } }

    /// The centrals with updates that are not completed.
    var centrals: Set<Central.ID> { Set(routes.filter { !$0.updates.isEmpty }.map(\.central)) }

    /// Records that bluetoothd receives an update for the given centrals.
    ///
    /// - Parameters:
    ///   - id: The update; `nil` if its completion is not awaited.
    ///   - attribute: The handle by which the update is observed.
    ///   - centrals: The recipients.
    mutating func given(
        _ id: BackendUpdate.ID?,
        of attribute: AttributeHandle,
        for centrals: [Central.ID]
    ) {
        var subscribers = centrals.map { index(of: attribute, for: $0) }
        // Recipients that receive the update determine the pace. Recipients that do not receive it have no
        // effect.
        if subscribers.contains(where: { !routes[$0].isDeserted }) {
            subscribers.removeAll { routes[$0].isDeserted }
        }
        guard !subscribers.isEmpty else { return }
        if let id { updates.append(PendingUpdate(id: id, missing: subscribers.count)) }
        for index in subscribers {
            routes[index].updates.append(Given(id: id, number: nextNumber))
            moved(routes[index].central)
            recovery(of: routes[index].central) { $0.given() }
        }
        nextNumber += 1
    }

    /// Records whether the socket or the bus has accepted an update.
    mutating func taken(_ id: BackendUpdate.ID, _ outcome: BackendUpdateOutcome)
        -> BackendEvent?
    {
        // If an update was not recorded as sent, its completion cannot be observed.
        guard let index = updates.firstIndex(where: { $0.id == id }) else { return .updateEnded(id, outcome) }
        updates[index].isTaken = true
        switch outcome {
        case .completed where updates[index].missing > 0: return .updateTaken(id)
        case .completed where updates[index].isGivenUp || updates[index].isCompleted:
            return .updateEnded(id, updates.remove(at: index).outcome)
        case .completed, .givenUp: break
        case .failed: withdraw(id)
        }
        updates.removeAll { $0.id == id }
        return .updateEnded(id, outcome)
    }

    /// Records that bluetoothd has not received an update.
    mutating func withdraw(_ id: BackendUpdate.ID) {
        for index in routes.indices { routes[index].updates.removeAll { $0.id == id } }
        updates.removeAll { $0.id == id }
    }

    /// Records that the completion of an update was observed.
    mutating func completed(_ attribute: AttributeHandle, for central: Central.ID) -> BackendEvent? {
        moved(central)
        guard let index = existingIndex(of: attribute, for: central) else { return nil }
        routes[index].isDeserted = false
        // It is unknown which update this was, so the link must first become empty.
        guard recovery(of: central, { $0.completed() }) == nil, !routes[index].updates.isEmpty else {
            return nil
        }
        let given = routes[index].updates.removeFirst()
        (routes[index].looks, routes[index].isOvertaken) = ([], false)
        for other in routes.indices where routes[other].central == central && routes[other].looks.count == 2 {
            if given.number >= routes[other].looks[1] { routes[other].isOvertaken = true }
        }
        return ended(given.id, .completed)
    }

    /// Records that frames were missed.
    ///
    /// Until the state of the links is known again, no update counts as completed.
    mutating func missed() {
        for index in recoveries.indices { recoveries[index].missed() }
        for route in routes where !route.updates.isEmpty { beginRecovery(of: route.central) }
    }

    /// Records that a central has disconnected, so its updates that are not completed are lost.
    mutating func settled(_ central: Central.ID) -> [BackendEvent] {
        var events: [BackendEvent] = []
        for index in routes.indices where routes[index].central == central {
            end(index, .lost, &events)
        }
        routes.removeAll { $0.central == central }
        recoveries.removeAll { $0.central == central }
        return events
    }

    /// Records a look at the links, made after bluetoothd has shown that it is idle.
    ///
    /// If an update is not on the link of its central at this time, it will not arrive there. The update was
    /// not sent, or was sent where it cannot be observed. The same applies to an update that a later update
    /// has overtaken, because bluetoothd sends the updates for one central in order. After missed frames,
    /// ``FrameLossRecovery`` interprets the look.
    ///
    /// - Parameters:
    ///   - isBusy: Whether the link of a central contains packets; `nil` if its packets may wait for other
    ///     links.
    ///   - hasCompleted: Whether the link has carried packets since the last look.
    ///   - isForgotten: Whether the content of the link is no longer known.
    /// - Returns: The events to report.
    mutating func looked(
        _ isBusy: (Central.ID) -> Bool?,
        hasCompleted: (Central.ID) -> Bool = { _ in false },
        isForgotten: (Central.ID) -> Bool = { _ in false }
    ) -> [BackendEvent] {
        var events: [BackendEvent] = []
        // Unobserved packets on a link that does not work occupy the room in the controller that other links
        // need.
        let mayBeHeldUp = recoveries.contains { !$0.works }
        for index in routes.indices
        where !routes[index].updates.isEmpty && !isRecovering(routes[index].central) {
            if let isBusy = isBusy(routes[index].central) {
                routes[index].quietLooks = isBusy ? 0 : routes[index].quietLooks + 1
            }
            if routes[index].isOvertaken {
                settleOvertaken(index, &events)
                continue
            }
            if routes[index].looks.count < 2 { routes[index].looks.append(nextNumber) }
            guard routes[index].quietLooks >= Self.quietLooks else { continue }
            if mayBeHeldUp {
                beginRecovery(of: routes[index].central)
            } else {
                routes[index].isDeserted = true
                end(index, .givenUp, &events)
            }
        }
        for central in recoveries.map(\.central) {
            if isForgotten(central) { recovery(of: central) { $0.missed() } }
            lookedDuringRecovery(at: central, isBusy(central), hasCompleted(central), &events)
        }
        return events
    }

    private mutating func lookedDuringRecovery(
        at central: Central.ID,
        _ isBusy: Bool?,
        _ hasCompleted: Bool,
        _ events: inout [BackendEvent]
    ) {
        let missing = missing(for: central)
        let verdict = recovery(of: central) {
            $0.looked(isBusy: isBusy, hasCompleted: hasCompleted, missing: missing)
        }
        switch verdict {
        case .wait, nil: break
        case .release(let count):
            for _ in 0..<count { releaseOldest(for: central, .completed, &events) }
        case .releaseOfDeserted:
            for index in routes.indices where routes[index].central == central {
                routes[index].isDeserted = true
            }
            releaseOldest(for: central, .givenUp, &events)
        case .resolved:
            recoveries.removeAll { $0.central == central }
            for index in routes.indices where routes[index].central == central {
                end(index, .completed, &events)
            }
        }
    }

    /// Whether the state of a central's link is not known since frames were missed.
    func isRecovering(_ central: Central.ID) -> Bool {
        recoveries.contains { $0.central == central }
    }

    private mutating func beginRecovery(of central: Central.ID) {
        if isRecovering(central) { return }
        recoveries.append(FrameLossRecovery(of: central))
        for index in routes.indices where routes[index].central == central {
            (routes[index].looks, routes[index].isOvertaken) = ([], false)
        }
    }

    /// Changes the recovery of a central; `nil` if there is no recovery.
    @discardableResult
    private mutating func recovery<Result>(
        of central: Central.ID,
        _ change: (inout FrameLossRecovery) -> Result
    ) -> Result? {
        guard let index = recoveries.firstIndex(where: { $0.central == central }) else { return nil }
        return change(&recoveries[index])
    }

    /// The number of updates that are not completed for a central.
    func missing(for central: Central.ID) -> Int {
        routes.reduce(0) { $0 + ($1.central == central ? $1.updates.count : 0) }
    }

    private mutating func releaseOldest(
        for central: Central.ID,
        _ fate: Fate,
        _ events: inout [BackendEvent]
    ) {
        let candidates = routes.indices.filter {
            routes[$0].central == central && !routes[$0].updates.isEmpty
        }
        let oldest = candidates.min { routes[$0].updates[0].number < routes[$1].updates[0].number }
        guard let oldest else { return }
        if let event = ended(routes[oldest].updates.removeFirst().id, fate) { events.append(event) }
    }

    private func existingIndex(of attribute: AttributeHandle, for central: Central.ID) -> Int? {
        routes.firstIndex { $0.attribute == attribute && $0.central == central }
    }

    /// Returns the index of the updates of an attribute for a central, and adds an entry if there is none.
    private mutating func index(of attribute: AttributeHandle, for central: Central.ID) -> Int {
        if let index = existingIndex(of: attribute, for: central) { return index }
        routes.append(Route(attribute: attribute, central: central))
        return routes.count - 1
    }

    /// Records that the link of a central carries packets.
    private mutating func moved(_ central: Central.ID) {
        for index in routes.indices where routes[index].central == central { routes[index].quietLooks = 0 }
    }

    private mutating func settleOvertaken(_ index: Int, _ events: inout [BackendEvent]) {
        let overtaken = routes[index].updates.prefix { $0.number < routes[index].looks[0] }
        routes[index].updates.removeFirst(overtaken.count)
        (routes[index].looks, routes[index].isOvertaken, routes[index].isDeserted) = ([], false, true)
        for id in overtaken.compactMap(\.id) {
            if let event = ended(id, .givenUp) { events.append(event) }
        }
    }

    private mutating func end(_ index: Int, _ fate: Fate, _ events: inout [BackendEvent]) {
        for id in routes[index].updates.compactMap(\.id) {
            if let event = ended(id, fate) { events.append(event) }
        }
        (routes[index].updates, routes[index].quietLooks) = ([], 0)
        (routes[index].looks, routes[index].isOvertaken) = ([], false)
    }

    private mutating func ended(_ id: BackendUpdate.ID?, _ fate: Fate) -> BackendEvent? {
        guard let id, let index = updates.firstIndex(where: { $0.id == id }) else { return nil }
        updates[index].missing -= 1
        switch fate {
        case .completed: updates[index].isCompleted = true
        case .givenUp: updates[index].isGivenUp = true
        case .lost: break
        }
        // An update that is not yet accepted ends when it is accepted.
        guard updates[index].missing == 0, updates[index].isTaken else { return nil }
        return .updateEnded(id, updates.remove(at: index).outcome)
    }
}

extension PeripheralError {
    fileprivate static let centralGone = PeripheralError(
        code: .disconnected,
        message: "The central disconnected. The value might not have left the device."
    )
}
