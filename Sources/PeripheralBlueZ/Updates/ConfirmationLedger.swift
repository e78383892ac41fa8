internal import PeripheralKit

/// Counts the confirmations of one source.
///
/// A confirmation does not name the update. If the source is shared, the confirmation does not name the
/// central either. bluetoothd reports one confirmation for each central to which it has sent an indication. A
/// central confirms indications in the order of the updates. Therefore the ledger counts all confirmations,
/// even those that are not awaited. A central that has not confirmed an update has not confirmed later
/// updates either. If the number of missing confirmations is at most the number of later updates, all
/// centrals have confirmed the update.
///
/// The ledger is a pure value.
struct ConfirmationLedger {
    private struct Awaited {
        var update: BackendUpdate.ID
        /// The number of updates sent up to and including this update.
        var position: Int
        /// The number of centrals that must confirm the update.
        var confirmers: Int
        /// The number of confirmations before the update.
        var received: Int
        /// The number of updates sent from this update on until it was given up.
        var updatesSince: Int?
    }

    /// The number of updates sent since the last time without missing confirmations.
    private var sent = 0
    /// The number of confirmations since the last time without missing confirmations.
    private var received = 0
    private var missing = 0
    private var awaited: [Awaited] = []
    /// The number of centrals that have just disconnected and may have left updates unconfirmed.
    private var leaving = 0
    /// The number of updates sent before the last of these centrals disconnected.
    private var sentBeforeLeaving = 0
    /// The largest number of centrals that confirm; `nil` if it is unknown.
    private var confirmers: Int?

    var isAnyMissing: Bool { missing > 0 }
    /// The updates whose confirmations are awaited, in the order in which they were sent.
    var updates: [BackendUpdate.ID] { awaited.map(\.update) }
    /// The updates that a central that has just disconnected may not have confirmed.
    var updatesInDoubt: [BackendUpdate.ID] {
        awaited.prefix { $0.position <= sentBeforeLeaving }.map(\.update)
    }

    /// Returns the known number of subscribers that confirm.
    func expected(of subscribers: Int) -> Int {
        min(subscribers, confirmers ?? subscribers)
    }

    /// Records an update that was sent.
    ///
    /// - Parameters:
    ///   - update: The update; `nil` if its confirmation is not awaited.
    ///   - expected: The number of centrals that must confirm the update.
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
    /// - Returns: The updates that all centrals have confirmed.
    mutating func confirmed() -> [BackendUpdate.ID] {
        guard missing > 0 else {
            // The number of confirming centrals is larger than assumed.
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

    /// Records that a central has disconnected.
    ///
    /// Now confirmations arrive for all updates that the central has not confirmed.
    mutating func left() {
        leaving += 1
        sentBeforeLeaving = sent
    }

    /// Records that the confirmations for disconnected centrals have arrived.
    ///
    /// - Parameter subscribers: The number of subscribers that may still confirm.
    /// - Returns: The updates that all these subscribers have confirmed.
    mutating func settleLeaving(remaining subscribers: Int) -> [BackendUpdate.ID] {
        leaving -= 1
        if leaving == 0 { sentBeforeLeaving = 0 }
        missing = min(missing, min(sent, missing) * subscribers)
        return takeConfirmed()
    }

    /// Records that an update is about to be given up.
    ///
    /// Confirmations that do not arrive within a moment never arrive.
    mutating func doubt(_ update: BackendUpdate.ID) {
        guard let index = awaited.firstIndex(where: { $0.update == update }) else { return }
        awaited[index].updatesSince = sent - awaited[index].position + 1
    }

    /// Gives up an update and the updates before it.
    ///
    /// bluetoothd disconnects a central that does not confirm within 30 s. Therefore bluetoothd has not sent
    /// the indication to a connected central without a confirmation. It will not send the next indication to
    /// this central either.
    ///
    /// - Returns: The updates that are given up, and the updates that all centrals have confirmed as a
    ///   result.
    mutating func giveUp(_ update: BackendUpdate.ID) -> (
        lost: [BackendUpdate.ID], confirmed: [BackendUpdate.ID]
    ) {
        guard let index = awaited.firstIndex(where: { $0.update == update }) else { return ([], []) }
        let entry = awaited[index]
        let updates = entry.updatesSince ?? sent - entry.position + 1
        let receivedSince = received - entry.received
        let confirmers = min(entry.confirmers, (receivedSince + updates - 1) / updates)
        self.confirmers = confirmers
        // The confirmations that are still missing belong to later updates. Some of these updates are now
        // confirmed as well.
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
