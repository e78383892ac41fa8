internal import PeripheralKit

/// The confirmations of one source, which tells neither of which update each is nor, if it is shared, of which central.
///
/// bluetoothd reports one confirmation for each central that it has sent an indication to, and a central confirms in
/// the order of the updates. So they are counted, those of the updates that nobody waits for as well: who has not
/// confirmed an update has not confirmed those after it either. An update is confirmed by all when no more
/// confirmations are missing than updates were sent after it.
///
/// A pure value.
struct ConfirmationLedger {
    private struct Awaited {
        var update: Update.ID
        /// How many updates had been sent with this one.
        var position: Int
        /// How many centrals are to confirm it.
        var confirmers: Int
        /// How many confirmations had come before it.
        var received: Int
        /// How many updates had been sent from this one on when it was given up.
        var updatesSince: Int?
    }

    /// How many updates were sent since nothing was missing.
    private var sent = 0
    /// How many confirmations have come since nothing was missing.
    private var received = 0
    private var missing = 0
    private var awaited: [Awaited] = []
    /// How many centrals have just left, each of which may have left something unconfirmed.
    private var leaving = 0
    /// How many updates had been sent when the last of them left.
    private var sentBeforeLeaving = 0
    /// How many confirm at most, once that is known.
    private var confirmers: Int?

    var isAnyMissing: Bool { missing > 0 }
    /// What somebody waits for, in its order.
    var updates: [Update.ID] { awaited.map(\.update) }
    /// What may not be confirmed by a central that has just left.
    var updatesInDoubt: [Update.ID] {
        awaited.prefix { $0.position <= sentBeforeLeaving }.map(\.update)
    }

    /// How many of the subscribers confirm, as far as is known.
    func expected(of subscribers: Int) -> Int {
        min(subscribers, confirmers ?? subscribers)
    }

    /// Takes note of an update that was sent.
    ///
    /// - Parameters:
    ///   - update: The update; `nil` when nobody waits for its confirmation.
    ///   - expected: How many are to confirm it.
    mutating func sent(_ update: Update.ID?, to expected: Int) {
        if missing == 0 { (sent, received, sentBeforeLeaving) = (0, 0, 0) }
        sent += 1
        missing += expected
        guard let update else { return }
        awaited.append(
            Awaited(update: update, position: sent, confirmers: expected, received: received)
        )
    }

    /// Takes note of a confirmation.
    ///
    /// - Returns: The updates that are confirmed by all.
    mutating func confirmed() -> [Update.ID] {
        guard missing > 0 else {
            // More confirm than was thought.
            confirmers = nil
            return []
        }
        missing -= 1
        received += 1
        return takeConfirmed()
    }

    /// Takes note that somebody new may confirm.
    mutating func joined() {
        confirmers = nil
    }

    /// Takes note that a central is gone: for what it has not confirmed, confirmations come now.
    mutating func left() {
        leaving += 1
        sentBeforeLeaving = sent
    }

    /// Takes note that those have come.
    ///
    /// - Parameter subscribers: How many may still confirm.
    /// - Returns: The updates that are confirmed by all of them.
    mutating func settleLeaving(remaining subscribers: Int) -> [Update.ID] {
        leaving -= 1
        if leaving == 0 { sentBeforeLeaving = 0 }
        missing = min(missing, min(sent, missing) * subscribers)
        return takeConfirmed()
    }

    /// Takes note that an update is about to be given up: what has not come for it in a moment never will.
    mutating func doubt(_ update: Update.ID) {
        guard let index = awaited.firstIndex(where: { $0.update == update }) else { return }
        awaited[index].updatesSince = sent - awaited[index].position + 1
    }

    /// Gives up an update and those before it.
    ///
    /// bluetoothd disconnects a central that does not confirm within 30 s. So whoever has not confirmed but is still
    /// there has not been asked to, and will not be for the next update.
    ///
    /// - Returns: The updates that are given up, and those that are confirmed by all thereby.
    mutating func giveUp(_ update: Update.ID) -> (lost: [Update.ID], confirmed: [Update.ID]) {
        guard let index = awaited.firstIndex(where: { $0.update == update }) else { return ([], []) }
        let entry = awaited[index]
        let updates = entry.updatesSince ?? sent - entry.position + 1
        let receivedSince = received - entry.received
        let confirmers = min(entry.confirmers, (receivedSince + updates - 1) / updates)
        self.confirmers = confirmers
        // What is still missing is of those after it, of which some are confirmed as well.
        let missingSince = (sent - entry.position) * confirmers - max(0, receivedSince - confirmers)
        missing = max(0, min(missing, missingSince))
        let lost = awaited.prefix(through: index).map(\.update)
        awaited.removeFirst(index + 1)
        return (lost, takeConfirmed())
    }

    private mutating func takeConfirmed() -> [Update.ID] {
        let confirmed = awaited.prefix { missing <= sent - $0.position }.map(\.update)
        awaited.removeFirst(confirmed.count)
        return confirmed
    }
}
