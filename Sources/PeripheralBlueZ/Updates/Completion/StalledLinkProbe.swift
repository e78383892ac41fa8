internal import PeripheralCore
internal import PeripheralKit

/// Finds the links that do not work.
///
/// The probe runs if the adapter has sent nothing although updates for several centrals are missing. Only the
/// total of all links is known. Therefore the probe lets one central at a time receive updates, and no other
/// central in the meantime. Either the adapter sends these updates, or the link of this central is stalled.
/// Centrals that bluetoothd reaches only together are tested together. While updates are sent to the other
/// centrals, a stalled central receives nothing. The probe tests a stalled central again from time to time,
/// when the updates for the other centrals are completed.
///
/// A central stays a suspect until all its updates are known to be sent. Therefore, the number of updates in
/// flight to a central has a bound.
struct StalledLinkProbe {
    /// A central with its missing updates.
    struct Suspect {
        var central: Central.ID
        var entries: [CompletionEstimate.Entry] = []
        /// The amount that counts as completed, but may not have been sent.
        var owed = CompletionEstimate.Amount()
        /// Whether nothing was sent to the central after it received more updates.
        var isStalled = false
        /// Whether all updates are known to be sent.
        var isWorking = false
        /// Whether bluetoothd has received an update for the central since the current turn began.
        var isTried = false
        /// The time when the central received more updates.
        var givenAt: ContinuousClock.Instant?

        /// Whether the disconnection of another central must not lead to more updates.
        var owesTooMuch: Bool { owed.packets >= StalledLinkProbe.mostOwedAfterDisconnections }

        var missing: CompletionEstimate.Amount { entries.reduce(into: owed) { $0.add($1.size) } }

        /// Limits the owed amount to the total amount that is missing for all suspects.
        mutating func owe(noMoreThan missing: CompletionEstimate.Amount) {
            let rest = entries.reduce(into: missing) { $0.take($1.size) }
            owed.packets = min(owed.packets, max(rest.packets, 0))
            owed.bytes = min(owed.bytes, max(rest.bytes, 0))
        }
    }

    /// The largest amount owed to a central.
    ///
    /// Beyond this amount, the central receives one update at a time, after ``longestLoss``.
    static let mostOwed = 64
    /// The largest amount owed to a central after others have disconnected.
    ///
    /// The kernel needs one more packet then: see ``CompletionEstimate/settled(_:)``.
    static let mostOwedAfterDisconnections = mostOwed + 16
    /// The time after which a silent link is lost (Core Specification, Vol 4, Part E, 7.8.12).
    ///
    /// A link that still exists after this time may work again, and the owed amount may be smaller than
    /// assumed. However, a central that answers but accepts no data can keep its link without limit. One more
    /// update distinguishes these two cases.
    private static let longestLoss = Duration.seconds(32)
    private static let (shortestRest, longestRest) = (Duration.seconds(1), Duration.seconds(30))

    private var suspects: [Suspect] = []
    private var waiting: [Central.ID] = []
    /// The centrals that are being tested, if any.
    private var current: [Central.ID] = []
    /// The amount that other centrals may send in the meantime, which is attributed to no central.
    ///
    /// This amount is missing for disconnected centrals. During a probe, it also includes all updates that
    /// bluetoothd receives.
    private var awaited = CompletionEstimate.Amount()
    private var sent = CompletionEstimate.Amount()
    /// Whether no central receives updates until all updates for working centrals are known to be sent.
    private var isDraining = false
    private(set) var isRunning = false
    private var rest = shortestRest
    private var restsUntil: ContinuousClock.Instant?

    /// Whether no central is known to be stalled.
    var isOver: Bool { suspects.isEmpty }

    /// Whether no update is missing.
    var isEmpty: Bool { suspects.allSatisfy(\.entries.isEmpty) }

    func suspects(_ central: Central.ID) -> Bool {
        suspects.contains { $0.central == central }
    }

    func isDue(at time: ContinuousClock.Instant) -> Bool {
        !isRunning && !isEmpty && restsUntil.map { time >= $0 } ?? true
    }

    /// Begins with the missing updates, and with the amounts that are owed to centrals.
    ///
    /// Centrals that were stalled before are probed after the updates for the other centrals are sent.
    mutating func begin(_ entries: [CompletionEstimate.Entry], owed: OwedAmounts) {
        isRunning = true
        isDraining = true
        (sent, awaited) = (CompletionEstimate.Amount(), CompletionEstimate.Amount())
        for (central, amount) in owed.amounts { suspects[suspect(central)].owed = amount }
        for entry in entries { add(entry) }
    }

    mutating func add(_ entry: CompletionEstimate.Entry) {
        let index = suspect(entry.delivery.central)
        suspects[index].entries.append(entry)
        // The central has more to send, so its link can be tested.
        if !isRunning, !suspects[index].isStalled { restsUntil = nil }
        guard !current.isEmpty else { return }
        suspects[index].isTried = true
        // Nothing is expected from a link that is known to be stalled, unless it is tested.
        if !suspects[index].isStalled || current.contains(entry.delivery.central) { awaited.add(entry.size) }
    }

    private mutating func suspect(_ central: Central.ID) -> Int {
        if let index = suspects.firstIndex(where: { $0.central == central }) { return index }
        suspects.append(Suspect(central: central))
        return suspects.count - 1
    }

    mutating func withdraw(_ update: BackendUpdate.ID) {
        for index in suspects.indices { suspects[index].entries.removeAll { $0.delivery.update == update } }
    }

    mutating func settled(_ central: Central.ID) {
        // Some of the amount may have been sent. This must not make another link seem to work.
        if isDraining { awaited = suspects.reduce(awaited) { $1.central == central ? $0 + $1.missing : $0 } }
        suspects.removeAll { $0.central == central }
        waiting.removeAll { $0 == central }
        if suspects.isEmpty { self = StalledLinkProbe() }
        // The central may have caused the silence of the other centrals.
        restsUntil = nil
        for index in suspects.indices {
            if isRunning { suspects[index].isStalled = false }
            if !suspects[index].owesTooMuch { suspects[index].givenAt = nil }
        }
    }

    /// Removes and returns the first missing update of each central, which is owed from now on.
    ///
    /// The result does not include centrals with a too large owed amount.
    mutating func takeOldest() -> [CompletionEstimate.Entry] {
        suspects.indices.compactMap { index in
            guard !suspects[index].owesTooMuch, !suspects[index].entries.isEmpty else { return nil }
            let taken = suspects[index].entries.removeFirst()
            suspects[index].owed.add(taken.size)
            return taken
        }
    }

    /// Records the amount that was sent.
    ///
    /// - Parameters:
    ///   - amount: The amount sent since the last call.
    ///   - isSilent: Whether nothing has been sent for a while.
    ///   - time: The time of the call.
    /// - Returns: The updates that count as completed, and whether the wait for a silence begins again.
    mutating func sent(
        _ amount: CompletionEstimate.Amount,
        isSilent: Bool,
        at time: ContinuousClock.Instant
    ) -> (completed: [CompletionEstimate.Delivery], beginsAgain: Bool) {
        sent = sent + amount
        if isDraining { return drain(isSilent: isSilent, at: time) }
        // Without another update for a central, the state of its link remains unknown.
        let tested = suspects.indices.filter {
            suspects[$0].isTried && current.contains(suspects[$0].central)
        }
        let unsent = suspects.reduce(CompletionEstimate.Amount()) { $1.isTried ? $0 + $1.missing : $0 } - sent
        if !tested.isEmpty, unsent.isNothing {
            for index in suspects.indices where suspects[index].isTried { suspects[index].isWorking = true }
            return (next(at: time), true)
        }
        guard isSilent || !suspects.contains(where: { current.contains($0.central) }) else {
            return ([], false)
        }
        // If a link works, a silence means that all its updates are sent.
        let isWorking = (awaited - sent).isNothing
        for index in tested where !suspects[index].isWorking {
            (suspects[index].isWorking, suspects[index].isStalled) = (isWorking, !isWorking)
        }
        return (next(at: time), true)
    }

    private mutating func drain(
        isSilent: Bool,
        at time: ContinuousClock.Instant
    ) -> (completed: [CompletionEstimate.Delivery], beginsAgain: Bool) {
        let unsent = suspects.reduce(awaited) { $0 + $1.missing } - sent
        if unsent.isNothing {
            for index in suspects.indices { suspects[index].isWorking = true }
            return (finish(at: time), true)
        }
        guard isSilent else { return ([], false) }
        isDraining = false
        // The owed amount may have been sent before, while its recipient was unknown.
        for index in suspects.indices { suspects[index].owe(noMoreThan: unsent) }
        let stalled = suspects.filter(\.isStalled)
        // If no more is missing than the updates for the stalled centrals, all other updates are sent.
        let isRestSent = (stalled.reduce(unsent) { $0 - $1.missing }).isNothing
        for index in suspects.indices where isRestSent && !suspects[index].isStalled {
            suspects[index].isWorking = true
        }
        waiting = suspects.filter { !$0.isStalled && !$0.isWorking }.map(\.central) + stalled.map(\.central)
        return (next(at: time), true)
    }

    /// Lets the next central receive updates, and the centrals that share these updates.
    private mutating func next(at time: ContinuousClock.Instant) -> [CompletionEstimate.Delivery] {
        (sent, awaited) = (CompletionEstimate.Amount(), CompletionEstimate.Amount())
        for index in suspects.indices { suspects[index].isTried = false }
        while let central = waiting.first {
            waiting.removeFirst()
            guard let index = suspects.firstIndex(where: { $0.central == central }),
                !suspects[index].entries.isEmpty, !suspects[index].isWorking
            else { continue }
            // One update is enough to find out that a stalled link works again.
            var count = suspects[index].isStalled ? 1 : suspects[index].entries.count
            if suspects[index].missing.packets > Self.mostOwed {
                if let givenAt = suspects[index].givenAt, time - givenAt < Self.longestLoss {
                    suspects[index].isStalled = true
                    continue
                }
                count = 1
            }
            return release(Set(suspects[index].entries.prefix(count).map(\.delivery.update)), at: time)
        }
        return finish(at: time)
    }

    /// Lets updates count as completed for all their centrals, which are tested from now on.
    private mutating func release(
        _ updates: Set<BackendUpdate.ID>,
        at time: ContinuousClock.Instant
    ) -> [CompletionEstimate.Delivery] {
        var completed: [CompletionEstimate.Delivery] = []
        current = []
        for index in suspects.indices {
            let released = suspects[index].entries.filter { updates.contains($0.delivery.update) }
            guard !released.isEmpty else { continue }
            current.append(suspects[index].central)
            suspects[index].givenAt = time
            suspects[index].entries.removeAll { updates.contains($0.delivery.update) }
            for entry in released { suspects[index].owed.add(entry.size) }
            completed += released.map(\.delivery)
        }
        waiting.removeAll(where: current.contains)
        return completed
    }

    private mutating func finish(at time: ContinuousClock.Instant) -> [CompletionEstimate.Delivery] {
        let completed = suspects.filter(\.isWorking).flatMap(\.entries).map(\.delivery)
        suspects.removeAll(where: \.isWorking)
        (isRunning, isDraining, current, waiting) = (false, false, [], [])
        rest = suspects.isEmpty ? Self.shortestRest : min(rest * 2, Self.longestRest)
        // A central whose link is in an unknown state must not wait for the rest to end.
        restsUntil = suspects.contains { !$0.isStalled && !$0.entries.isEmpty } ? nil : time + rest
        return completed
    }
}
