internal import PeripheralKit

/// Counts the confirmations of one source, which names neither the update nor, if it is shared, the central.
///
/// bluetoothd reports one confirmation for each central to which it has sent an indication, and a central
/// confirms in the order of the updates. So confirmations are counted, including those of updates that
/// nothing waits for. A central that has not confirmed an update has not confirmed those after it either. An
/// update is confirmed by all when no more confirmations are missing than updates were sent after it.
///
/// A pure value.
struct ConfirmationLedger {
    private struct Awaited {
        var update: BackendUpdate.ID
        /// The number of updates sent up to and including this one.
        var position: Int
        /// How many centrals must confirm it.
        var confirmers: Int
        /// The number of confirmations before it.
        var received: Int
        /// The number of updates sent from this one on when it was given up.
        var updatesSince: Int?
    }

    /// The number of updates sent since nothing was missing.
    private var sent = 0
    /// The number of confirmations since nothing was missing.
    private var received = 0
    private var missing = 0
    private var awaited: [Awaited] = []
    /// The number of centrals that have just disconnected, each of which may have left something unconfirmed.
    private var leaving = 0
    /// The number of updates sent when the last of them disconnected.
    private var sentBeforeLeaving = 0
    /// The largest number of centrals that confirm, once that is known.
    private var confirmers: Int?

    var isAnyMissing: Bool { missing > 0 }
    /// The updates that something waits for, in their order.
    var updates: [BackendUpdate.ID] { awaited.map(\.update) }
    /// The updates that a central that has just disconnected may not have confirmed.
    var updatesInDoubt: [BackendUpdate.ID] {
        awaited.prefix { $0.position <= sentBeforeLeaving }.map(\.update)
    }

    /// How many of the subscribers confirm, as far as is known.
    func expected(of subscribers: Int) -> Int {
        min(subscribers, confirmers ?? subscribers)
    }

    /// Records an update that was sent.
    ///
    /// - Parameters:
    ///   - update: The update; `nil` when nothing waits for its confirmation.
    ///   - expected: How many centrals must confirm it.
    mutating func sent(_ update: BackendUpdate.ID?, to expected: Int) {
        if missing == 0 { (sent, received, sentBeforeLeaving) = (0, 0, 0) }
        sent += 1
        missing += expected
        guard let update else { return }
        awaited.append(
            Awaited(update: update, position: sent, confirmers: expected, received: received)
        )
    }

    /// Records a confirmation.
    ///
    /// - Returns: The updates that are confirmed by all.
    mutating func confirmed() -> [BackendUpdate.ID] {
        guard missing > 0 else {
            // More centrals confirm than was assumed.
            confirmers = nil
            return []
        }
        missing -= 1
        received += 1
        return takeConfirmed()
    }

    /// Records that another central may confirm.
    mutating func joined() {
        confirmers = nil
    }

    /// Records that a central has disconnected: confirmations arrive now for everything that it has not
    /// confirmed.
    mutating func left() {
        leaving += 1
        sentBeforeLeaving = sent
    }

    /// Records that those confirmations have arrived.
    ///
    /// - Parameter subscribers: How many may still confirm.
    /// - Returns: The updates that are confirmed by all of them.
    mutating func settleLeaving(remaining subscribers: Int) -> [BackendUpdate.ID] {
        leaving -= 1
        if leaving == 0 { sentBeforeLeaving = 0 }
        missing = min(missing, min(sent, missing) * subscribers)
        return takeConfirmed()
    }

    /// Records that an update is about to be given up: confirmations that do not arrive in a moment never
    /// will.
    mutating func doubt(_ update: BackendUpdate.ID) {
        guard let index = awaited.firstIndex(where: { $0.update == update }) else { return }
        awaited[index].updatesSince = sent - awaited[index].position + 1
    }

    /// Gives up an update and those before it.
    ///
    /// bluetoothd disconnects a central that does not confirm within 30 s. So a central that has not
    /// confirmed and is still connected was not sent the indication, and will not be sent the next one.
    ///
    /// - Returns: The updates that are given up, and those that are confirmed by all as a result.
    mutating func giveUp(_ update: BackendUpdate.ID) -> (
        lost: [BackendUpdate.ID], confirmed: [BackendUpdate.ID]
    ) {
        guard let index = awaited.firstIndex(where: { $0.update == update }) else { return ([], []) }
        let entry = awaited[index]
        let updates = entry.updatesSince ?? sent - entry.position + 1
        let receivedSince = received - entry.received
        let confirmers = min(entry.confirmers, (receivedSince + updates - 1) / updates)
        self.confirmers = confirmers
        // The confirmations that are still missing belong to later updates, of which some are confirmed as
        // well.
        let missingSince = (sent - entry.position) * confirmers - max(0, receivedSince - confirmers)
        missing = max(0, min(missing, missingSince))
        let lost = awaited.prefix(through: index).map(\.update)
        awaited.removeFirst(index + 1)
        return (lost, takeConfirmed())
    }

    private mutating func takeConfirmed() -> [BackendUpdate.ID] {
        let confirmed = awaited.prefix { missing <= sent - $0.position }.map(\.update)
        awaited.removeFirst(confirmed.count)
        return confirmed
    }
}
