internal import PeripheralCore
internal import PeripheralKit

/// Which indications are not yet confirmed, and by whom.
///
/// A pure value: what was sent and what comes back goes in, what has ended comes out.
struct Confirmations {
    /// On which way a confirmation comes.
    enum Source: Hashable {
        /// On the socket of a central.
        case socket(SubscriptionTable.Socket)
        /// By a call that does not tell of which central.
        case call(AttributeHandle)
    }

    struct End {
        var update: Update.ID
        var outcome: UpdateOutcome
    }

    private struct Awaited {
        /// The sources from which it is not confirmed by all.
        var missing: Set<Source>
        var failure: PeripheralError?
    }

    private var awaited: [Update.ID: Awaited] = [:]
    private var ledgers: [Source: ConfirmationLedger] = [:]

    /// Whether bluetoothd awaits a confirmation, as far as is known.
    var isAnyMissing: Bool { ledgers.values.contains { $0.isAnyMissing } }

    /// Takes note of an update that was sent, and may be confirmed.
    ///
    /// - Parameters:
    ///   - update: The update; `nil` when nobody waits for its confirmation.
    ///   - sources: Where confirmations come from, and how many from each; at least one.
    ///   - failure: Why somebody has not got it who is to confirm it.
    mutating func sent(
        _ update: Update.ID?,
        awaiting sources: [Source: Int],
        lacking failure: PeripheralError? = nil
    ) {
        var expected: [Source: Int] = [:]
        for (source, count) in sources { expected[source] = ledgers[source]?.expected(of: count) ?? count }
        // Somebody has to confirm.
        if expected.values.allSatisfy({ $0 == 0 }) { expected = expected.mapValues { _ in 1 } }
        if let update {
            let missing = Set(expected.filter { $0.value > 0 }.keys)
            awaited[update] = Awaited(missing: missing, failure: failure)
        }
        for (source, count) in expected {
            ledgers[source, default: ConfirmationLedger()].sent(count > 0 ? update : nil, to: count)
        }
    }

    /// Takes note of a confirmation.
    mutating func confirmed(_ source: Source) -> [End] {
        for update in ledgers[source]?.updatesInDoubt ?? [] { fail(update, .left) }
        return settle(ledgers[source]?.confirmed() ?? [], source, nil)
    }

    /// Takes note that somebody has subscribed who may confirm.
    mutating func joined(_ source: Source) {
        ledgers[source]?.joined()
    }

    /// Takes note that a central is gone that had subscribed; bluetoothd reports a confirmation for all that it has not
    /// confirmed.
    ///
    /// - Parameters:
    ///   - characteristic: What it had subscribed to.
    ///   - remaining: How many subscribers there still are.
    /// - Returns: What has ended, and whether ``settleLeaving(_:remaining:)`` is to be called when the confirmations have
    ///   come.
    mutating func left(_ characteristic: AttributeHandle, remaining: Int) -> (ends: [End], asks: Bool) {
        let source = Source.call(characteristic)
        guard remaining > 0 else { return (lost(source, because: .left), false) }
        guard let ledger = ledgers[source], ledger.isAnyMissing else { return ([], false) }
        ledgers[source]?.left()
        return ([], true)
    }

    /// Takes note that no central is connected any more, also none that has ended its subscription.
    mutating func allLeft() -> [End] {
        ledgers.keys.flatMap { lost($0, because: .left) }
    }

    /// Takes note that the confirmations have come that bluetoothd reports for those who have left.
    mutating func settleLeaving(_ characteristic: AttributeHandle, remaining: Int) -> [End] {
        let source = Source.call(characteristic)
        return settle(ledgers[source]?.settleLeaving(remaining: remaining) ?? [], source, nil)
    }

    /// Takes note that nothing more comes from a source.
    mutating func lost(_ source: Source, because failure: PeripheralError) -> [End] {
        settle(ledgers.removeValue(forKey: source)?.updates ?? [], source, failure)
    }

    /// Takes note that nothing more comes from the sockets of a central.
    mutating func lost(from central: Central.ID, because failure: PeripheralError) -> [End] {
        let sources = ledgers.keys.filter { source in
            guard case .socket(let socket) = source else { return false }
            return socket.central == central
        }
        return sources.flatMap { lost($0, because: failure) }
    }

    /// Takes note that nobody waits for an update any longer.
    ///
    /// - Returns: Whether it is still to be confirmed; then ``giveUp(_:)`` is to be called in a moment. What comes until
    ///   then may be late, but is not of a later update.
    mutating func doubt(_ update: Update.ID) -> Bool {
        guard let entry = awaited[update] else { return false }
        for source in entry.missing { ledgers[source]?.doubt(update) }
        return true
    }

    /// Gives up an update.
    mutating func giveUp(_ update: Update.ID) -> [End] {
        (awaited[update]?.missing ?? []).flatMap { source -> [End] in
            let (lost, confirmed) = ledgers[source]?.giveUp(update) ?? ([update], [])
            return settle(lost, source, .unconfirmed) + settle(confirmed, source, nil)
        }
    }

    private mutating func fail(_ update: Update.ID, _ failure: PeripheralError) {
        guard let entry = awaited[update], entry.failure == nil else { return }
        awaited[update]?.failure = failure
    }

    private mutating func settle(
        _ updates: [Update.ID],
        _ source: Source,
        _ failure: PeripheralError?
    ) -> [End] {
        var ends: [End] = []
        for update in updates {
            if let failure { fail(update, failure) }
            guard var entry = awaited.removeValue(forKey: update) else { continue }
            entry.missing.remove(source)
            guard entry.missing.isEmpty else {
                awaited[update] = entry
                continue
            }
            ends.append(
                End(update: update, outcome: entry.failure.map { .failed($0) } ?? .delivered)
            )
        }
        return ends
    }
}

extension PeripheralError {
    fileprivate static let left = PeripheralError(
        code: .disconnected,
        message: "A central that had subscribed is gone, and may not have confirmed."
    )

    fileprivate static let unconfirmed = PeripheralError(
        code: .unconfirmed,
        message: "Not all subscribers have confirmed within 30 s."
    )
}
