internal import PeripheralCore
internal import PeripheralKit

/// Tracks the indications that are not yet confirmed, and the sources of their confirmations.
///
/// The tracker is a pure value. It receives sent updates and confirmations, and returns the updates that have
/// ended.
struct Confirmations {
    /// The source of a confirmation.
    enum Source: Hashable {
        /// The socket for the updates of one central.
        case socket(SubscriptionTable.Socket)
        /// A call of the D-Bus method `Confirm`, which does not identify the central.
        case call(AttributeHandle)

        var characteristic: AttributeHandle {
            switch self {
            case .socket(let socket): socket.characteristic
            case .call(let characteristic): characteristic
            }
        }
    }

    struct End {
        var update: BackendUpdate.ID
        var outcome: BackendUpdateOutcome
    }

    private struct Awaited {
        /// The sources from which confirmations are missing.
        var missing: Set<Source>
        var failure: PeripheralError?
    }

    private var awaited: [BackendUpdate.ID: Awaited] = [:]
    private var ledgers: [Source: ConfirmationLedger] = [:]

    /// Whether bluetoothd awaits a confirmation, as far as is known.
    var isAnyMissing: Bool { ledgers.values.contains { $0.isAnyMissing } }

    /// Records a sent update that may be confirmed.
    ///
    /// - Parameters:
    ///   - update: The update; `nil` if its confirmation is not awaited.
    ///   - sources: The sources of confirmations, and the number of confirmations from each source; at least
    ///     one.
    ///   - failure: The reason why a central that should confirm the update has not received it.
    mutating func sent(
        _ update: BackendUpdate.ID?,
        awaiting sources: [Source: Int],
        lacking failure: PeripheralError? = nil
    ) {
        var expected: [Source: Int] = [:]
        for (source, count) in sources { expected[source] = ledgers[source]?.expected(of: count) ?? count }
        // At least one central must confirm.
        if expected.values.allSatisfy({ $0 == 0 }) { expected = expected.mapValues { _ in 1 } }
        if let update {
            let missing = Set(expected.filter { $0.value > 0 }.keys)
            awaited[update] = Awaited(missing: missing, failure: failure)
        }
        for (source, count) in expected {
            ledgers[source, default: ConfirmationLedger()].sent(count > 0 ? update : nil, to: count)
        }
    }

    /// Records a confirmation.
    mutating func confirmed(_ source: Source) -> [End] {
        for update in ledgers[source]?.updatesInDoubt ?? [] { fail(update, .left) }
        return end(ledgers[source]?.confirmed() ?? [], source, nil)
    }

    /// Records that a central that may confirm has subscribed.
    mutating func joined(_ source: Source) {
        ledgers[source]?.joined()
    }

    /// Records that a subscriber has disconnected.
    ///
    /// bluetoothd reports a confirmation for each update that the subscriber has not confirmed.
    ///
    /// - Parameters:
    ///   - characteristic: The characteristic to which the central had subscribed.
    ///   - remaining: The number of remaining subscribers.
    /// - Returns: The updates that have ended, and whether ``settleLeaving(_:remaining:)`` must be called
    ///   after the confirmations have arrived.
    mutating func left(_ characteristic: AttributeHandle, remaining: Int) -> (ends: [End], asks: Bool) {
        let source = Source.call(characteristic)
        guard remaining > 0 else { return (lost(source, because: .left), false) }
        guard let ledger = ledgers[source], ledger.isAnyMissing else { return ([], false) }
        ledgers[source]?.left()
        return ([], true)
    }

    /// Records that no central is connected any more, including centrals that have ended their subscriptions.
    mutating func allLeft() -> [End] {
        ledgers.keys.flatMap { lost($0, because: .left) }
    }

    /// Records that bluetoothd's confirmations for disconnected subscribers have arrived.
    mutating func settleLeaving(_ characteristic: AttributeHandle, remaining: Int) -> [End] {
        let source = Source.call(characteristic)
        return end(ledgers[source]?.settleLeaving(remaining: remaining) ?? [], source, nil)
    }

    /// Records that nothing more arrives from a source.
    mutating func lost(_ source: Source, because failure: PeripheralError) -> [End] {
        end(ledgers.removeValue(forKey: source)?.updates ?? [], source, failure)
    }

    /// Records that nothing more arrives from the sockets of a central.
    mutating func lost(from central: Central.ID, because failure: PeripheralError) -> [End] {
        let sources = ledgers.keys.filter { source in
            guard case .socket(let socket) = source else { return false }
            return socket.central == central
        }
        return sources.flatMap { lost($0, because: failure) }
    }

    /// Whether bluetoothd awaits a confirmation of one of these characteristics, as far as is known.
    func isAnyMissing(of characteristics: Set<AttributeHandle>) -> Bool {
        ledgers.contains { characteristics.contains($0.key.characteristic) && $0.value.isAnyMissing }
    }

    /// The sources from which bluetoothd awaits a confirmation of one of these characteristics.
    func missing(of characteristics: Set<AttributeHandle>) -> [Source] {
        ledgers.filter { characteristics.contains($0.key.characteristic) && $0.value.isAnyMissing }.map(\.key)
    }

    /// Records that the confirmation of an update is no longer awaited.
    ///
    /// - Returns: Whether the update is still unconfirmed. In that case, ``giveUp(_:)`` must be called in a
    ///   moment. Until then, confirmations may be late, but do not belong to a later update.
    mutating func doubt(_ update: BackendUpdate.ID) -> Bool {
        guard let entry = awaited[update] else { return false }
        for source in entry.missing { ledgers[source]?.doubt(update) }
        return true
    }

    /// Gives up an update.
    mutating func giveUp(_ update: BackendUpdate.ID) -> [End] {
        (awaited[update]?.missing ?? []).flatMap { source -> [End] in
            let (lost, confirmed) = ledgers[source]?.giveUp(update) ?? ([update], [])
            return end(lost, source, .unconfirmed) + end(confirmed, source, nil)
        }
    }

    private mutating func fail(_ update: BackendUpdate.ID, _ failure: PeripheralError) {
        guard let entry = awaited[update], entry.failure == nil else { return }
        awaited[update]?.failure = failure
    }

    private mutating func end(
        _ updates: [BackendUpdate.ID],
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
                End(update: update, outcome: entry.failure.map { .failed($0) } ?? .completed)
            )
        }
        return ends
    }
}

extension PeripheralError {
    fileprivate static let left = PeripheralError(
        code: .disconnected,
        message: "A subscriber disconnected, and might not have confirmed the indication."
    )

    fileprivate static let unconfirmed = PeripheralError(
        code: .unconfirmed,
        message: "Some subscribers did not confirm the indication within 30 s."
    )
}
