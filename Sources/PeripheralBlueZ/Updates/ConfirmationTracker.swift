internal import PeripheralCore
internal import PeripheralKit

/// Tracks the indications that are not yet confirmed, and reports how they end.
///
/// The tracker belongs to the event loop.
final class ConfirmationTracker {
    /// The time after the 30 s limit in which a confirmation can still arrive.
    ///
    /// At this limit, bluetoothd disconnects a central that has not confirmed.
    private static let lateness = Duration.seconds(1)

    private let context: CentralsContext
    private let completion: UpdateCompletion
    private let reporter: EventReporter
    private let turns: DaemonTurns
    private var confirmations = Confirmations()
    /// The characteristics with confirmed indications.
    private var confirmed: Set<AttributeHandle> = []
    /// The waits for the confirmations of some characteristics; `nil` for all characteristics.
    private var waits: [(characteristics: Set<AttributeHandle>?, done: AsyncStream<Void>.Continuation)] = []

    init(
        in context: CentralsContext,
        completion: UpdateCompletion,
        reporter: EventReporter,
        turns: DaemonTurns
    ) {
        (self.context, self.completion, self.reporter, self.turns) = (context, completion, reporter, turns)
    }

    /// Records that an update is sent, and expects its confirmation if the update has one.
    ///
    /// This includes updates whose confirmation is not awaited. These confirmations also arrive, and do not
    /// show which update they belong to.
    func expect(
        _ update: BackendUpdate,
        from sources: [Confirmations.Source: Int],
        lacking failure: PeripheralError? = nil
    ) {
        guard context.isIndicated(update.characteristic) else { return }
        confirmations.sent(update.awaitsConfirmation ? update.id : nil, awaiting: sources, lacking: failure)
    }

    /// Records that another central may confirm updates that are sent through the bus.
    func joined(_ characteristic: AttributeHandle) {
        confirmations.joined(.call(characteristic))
    }

    /// Returns whether a central has confirmed an indication of a characteristic.
    func hasConfirmed(_ characteristic: AttributeHandle) -> Bool {
        confirmed.contains(characteristic)
    }

    /// Records a confirmation.
    func confirmed(_ source: Confirmations.Source) {
        confirmed.insert(source.characteristic)
        end(confirmations.confirmed(source))
    }

    /// Ends an update that was given up.
    ///
    /// The update ends as soon as its confirmation can no longer arrive.
    func giveUp(_ update: BackendUpdate.ID) {
        guard confirmations.doubt(update) else { return }
        _ = turns.schedule(after: Self.lateness) { [weak self] in
            guard let self else { return }
            end(confirmations.giveUp(update))
        }
    }

    /// Records that nothing more arrives through a socket, and ends its unconfirmed updates.
    func lost(_ socket: SubscriptionTable.Socket, because failure: PeripheralError) {
        end(takeLost(socket, because: failure))
    }

    /// Records that nothing more arrives through a socket.
    ///
    /// - Returns: The updates that have ended with the socket, for ``end(_:)``.
    func takeLost(_ socket: SubscriptionTable.Socket, because failure: PeripheralError) -> [Confirmations.End]
    {
        confirmations.lost(.socket(socket), because: failure)
    }

    /// Records that nothing more arrives through the sockets of a central.
    func lost(from central: Central.ID, because failure: PeripheralError) {
        end(confirmations.lost(from: central, because: failure))
    }

    /// Records that a subscriber has disconnected.
    ///
    /// - Parameters:
    ///   - characteristic: The characteristic to which the central had subscribed.
    ///   - remaining: The number of remaining subscribers.
    /// - Returns: Whether ``settleLeaving(_:remaining:)`` must be called in a moment.
    func left(_ characteristic: AttributeHandle, remaining: Int) -> Bool {
        let (ends, asks) = confirmations.left(characteristic, remaining: remaining)
        end(ends)
        return asks
    }

    /// Records that bluetoothd has reported the confirmations of subscribers that have disconnected.
    func settleLeaving(_ characteristic: AttributeHandle, remaining: Int) {
        end(confirmations.settleLeaving(characteristic, remaining: remaining))
    }

    /// Records that no central is connected any more.
    func allLeft() {
        end(confirmations.allLeft())
    }

    /// Reports updates that have ended.
    func end(_ ends: [Confirmations.End]) {
        for end in ends {
            if case .completed = end.outcome { completion.confirmed(end.update) }
        }
        for end in ends { reporter.report(.updateEnded(end.update, end.outcome)) }
        for wait in waits where !isAnyMissing(of: wait.characteristics) { wait.done.finish() }
        waits.removeAll { !isAnyMissing(of: $0.characteristics) }
    }

    private func isAnyMissing(of characteristics: Set<AttributeHandle>?) -> Bool {
        characteristics.map(confirmations.isAnyMissing) ?? confirmations.isAnyMissing
    }

    /// The sources from which confirmations of some characteristics are missing.
    func missing(of characteristics: Set<AttributeHandle>) -> [Confirmations.Source] {
        confirmations.missing(of: characteristics)
    }

    /// Records that a characteristic no longer exists.
    func removed(_ characteristic: AttributeHandle, because failure: PeripheralError) {
        confirmed.remove(characteristic)
        end(confirmations.lost(.call(characteristic), because: failure))
    }

    /// Begins to wait until no confirmation is missing.
    ///
    /// - Parameter characteristics: The characteristics of the confirmations; `nil` for all.
    /// - Returns: A stream that ends when no confirmation is missing; `nil` if none is missing now.
    func untilConfirmed(of characteristics: Set<AttributeHandle>? = nil) -> AsyncStream<Void>? {
        guard isAnyMissing(of: characteristics) else { return nil }
        let (confirmed, done) = AsyncStream.makeStream(of: Void.self)
        waits.append((characteristics, done))
        return confirmed
    }

    /// Ends the streams of ``untilConfirmed(of:)``.
    func stopWaiting() {
        for wait in waits { wait.done.finish() }
        waits = []
    }
}
