internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// Sends updates to bluetoothd, each through its route, and in order.
///
/// If the updates of a characteristic change their route, they wait until bluetoothd has read the updates on
/// the previous route. The transmitter belongs to the event loop.
final class UpdateTransmitter {
    /// The interval between two checks of whether bluetoothd has read everything.
    static let readingInterval = Duration.milliseconds(5)
    /// The time after which bluetoothd has sent gathered notifications.
    ///
    /// bluetoothd delays notifications by 10 ms to send several in one packet to a central that supports
    /// this. It does not delay indications.
    static let gatheringTime = Duration.milliseconds(15)
    /// The number of bytes waiting for the bus from which on updates do not count as completed.
    private static let outgoingBound = 64 * 1024

    private let connection: BusConnection
    private let context: CentralsContext
    private let submitted: SubmittedUpdates
    private let subscriptions: Subscriptions
    private let routing: UpdateRouting
    private let sockets: SubscriberSockets
    private let sender: SocketSender
    private let confirmations: ConfirmationTracker
    private let completion: UpdateCompletion
    private let reporter: EventReporter
    private let turns: DaemonTurns
    /// The updates that wait until the route to their central is certain or can change, in their order.
    private(set) var held: [BackendUpdate] = []
    /// The route of the last update of each characteristic.
    private var routes: [AttributeHandle: SubscriptionTable.Route] = [:]
    /// The characteristics whose route is changing.
    private var turning: Set<AttributeHandle> = []
    /// Whether the application is about to be withdrawn, so nothing is sent any more.
    private var isEnding = false

    init(
        on connection: BusConnection,
        in context: CentralsContext,
        submitted: SubmittedUpdates,
        subscriptions: Subscriptions,
        routing: UpdateRouting,
        sockets: SubscriberSockets,
        sender: SocketSender,
        confirmations: ConfirmationTracker,
        completion: UpdateCompletion,
        reporter: EventReporter,
        turns: DaemonTurns
    ) {
        (self.connection, self.context, self.submitted) = (connection, context, submitted)
        (self.subscriptions, self.routing) = (subscriptions, routing)
        (self.sockets, self.sender) = (sockets, sender)
        (self.confirmations, self.completion) = (confirmations, completion)
        (self.reporter, self.turns) = (reporter, turns)
        subscriptions.setDelegate(self)
        sender.setDelegate(self)
    }

    /// Sends the submitted updates, and reports the updates that end in this call together.
    ///
    /// A change of threads for each update would cost more than all other work.
    func transmitSubmitted() {
        if sender.isPaused { return }
        let updates = submitted.takeAll()
        reporter.gatheringEnds {
            var run: SocketRun?
            for update in withoutOutlived(updates) {
                if let last = run, last.covers(update) {
                    run = sender.send(update, by: last)
                } else {
                    run = transmit(update)
                }
            }
        }
    }

    /// Stops sending, so later updates end at once.
    func end() {
        isEnding = true
    }

    /// Ends the updates of a characteristic that bluetoothd has removed.
    func removed(_ characteristic: AttributeHandle) {
        let unsent =
            held.filter { $0.characteristic == characteristic }
            + submitted.take { $0.characteristic == characteristic }
        held.removeAll { $0.characteristic == characteristic }
        for update in unsent { end(update, .failed(.serviceRemovedUnsent)) }
        routes[characteristic] = nil
        turning.remove(characteristic)
    }

    /// Sends an update through its route.
    ///
    /// - Returns: The sockets that have accepted the update. Updates that follow at once use the same
    ///   sockets.
    @discardableResult
    private func transmit(_ update: BackendUpdate) -> SocketRun? {
        guard !isEnding else {
            end(update, outcome(of: update, notSentBecause: BusError.disconnected))
            return nil
        }
        guard !turning.contains(update.characteristic), !isAwaited(update.characteristic) else {
            held.append(update)
            return nil
        }
        switch routing.route(of: update) {
        case .bus where !canTurn(to: .bus, for: update.characteristic),
            .sockets where !canTurn(to: .socket, for: update.characteristic):
            held.append(update)
            turn(update.characteristic)
        case .bus: announce(update)
        case .sockets(let sockets, let failure):
            let run = sender.send(update, by: sender.run(of: update, by: sockets, lacking: failure))
            // The security of the links is checked for each update.
            return context.notifySecurity(of: update.characteristic) == nil ? run : nil
        case .later: held.append(update)
        case .none(let outcome): end(update, outcome)
        }
        return nil
    }

    /// Returns whether an indication may reach a reconnected central that counts as subscribed only in a
    /// moment.
    ///
    /// The confirmation of this central would be mistaken for the confirmation of another central.
    private func isAwaited(_ characteristic: AttributeHandle) -> Bool {
        context.isIndicated(characteristic) && subscriptions.isAwaited(characteristic)
    }

    /// Sends the held updates that can be sent now.
    private func releaseHeld() {
        let updates = held
        held = []
        for update in withoutOutlived(updates) { transmit(update) }
    }

    /// Ends an update that was given up.
    ///
    /// A sent update ends as soon as its confirmation can no longer arrive.
    func giveUp(_ id: BackendUpdate.ID) {
        let unsent = held.filter { $0.id == id } + submitted.take { $0.id == id }
        held.removeAll { $0.id == id }
        for update in unsent { end(update, .failed(.givenUpUnsent)) }
        if unsent.isEmpty { confirmations.giveUp(id) }
    }

    /// Ends the updates whose recipients have all subscribed again since.
    ///
    /// - Returns: The other updates, which stay valid until the current work on the loop ends.
    private func withoutOutlived(_ updates: [BackendUpdate]) -> [BackendUpdate] {
        guard updates.contains(where: subscriptions.haveOutlived) else { return updates }
        for update in updates where subscriptions.haveOutlived(update) { end(update, .failed(.outlived)) }
        return updates.filter { !subscriptions.haveOutlived($0) }
    }

    /// Returns whether an update on this route cannot overtake the updates on the other route.
    private func canTurn(to route: SubscriptionTable.Route, for characteristic: AttributeHandle) -> Bool {
        let last = routes[characteristic] ?? route
        guard last == route || last == .socket && sockets.isAllRead(of: characteristic) else { return false }
        routes[characteristic] = route
        return true
    }

    /// Holds back the updates of a characteristic until bluetoothd has read the previous updates.
    private func turn(_ characteristic: AttributeHandle) {
        turning.insert(characteristic)
        // When bluetoothd answers, it has read everything that arrived through the bus.
        turns.afterAnswer { [weak self] in
            guard let self else { return }
            guard sockets.isAllRead(of: characteristic) else {
                _ = turns.schedule(after: Self.readingInterval) { [weak self] in self?.turn(characteristic) }
                return
            }
            turning.remove(characteristic)
            routes[characteristic] = nil
            releaseHeld()
        }
    }

    private func end(_ update: BackendUpdate, _ outcome: BackendUpdateOutcome) {
        reporter.ended(update.id, outcome)
    }

    // MARK: The bus

    private func announce(_ update: BackendUpdate) {
        do {
            guard let path = context.characteristics[update.characteristic]?.path else {
                throw PeripheralError(
                    code: .notDeclared,
                    message: "There is no characteristic with the handle \(update.characteristic)."
                )
            }
            try connection.assumeIsolated { connection in
                try connection.emit(path, .properties, .propertiesChanged) { writer in
                    writer.appendChange(of: "Value", of: BlueZ.characteristic, to: update.value)
                }
            }
        } catch {
            return end(update, outcome(of: update, notSentBecause: error))
        }
        subscriptions.announced(update.characteristic)
        completion.willSend(
            update,
            to: subscriptions.subscribers(of: update.characteristic).map(\.central.id)
        )
        let source = Confirmations.Source.call(update.characteristic)
        confirmations.expect(update, from: [source: subscriptions.count(of: update.characteristic)])
        if !update.awaitsConfirmation { endWhenTaken(update) }
    }

    /// Ends an update when the bus keeps up.
    ///
    /// A bus that does not keep up delays the later updates.
    private func endWhenTaken(_ update: BackendUpdate) {
        let isSlow = connection.assumeIsolated { $0.outgoingSize > Self.outgoingBound }
        guard isSlow else { return completion.taken(update.id, .completed) }
        turns.whenOutgoing(isAtMost: Self.outgoingBound) { [weak self] result in
            guard let self else { return }
            switch result {
            case .success: completion.taken(update.id, .completed)
            case .failure(let error): completion.taken(update.id, outcome(of: update, notSentBecause: error))
            }
        }
    }

    /// Returns the outcome of an update that could not be sent.
    ///
    /// If the bus connection has ended, all centrals are gone. In that case, an update for all subscribers
    /// has no recipients.
    private func outcome(of update: BackendUpdate, notSentBecause error: any Error) -> BackendUpdateOutcome {
        if case BusError.disconnected = error {
            let isForAny = update.recipients == .subscribers && update.isForAllSubscribers
            return isForAny && !update.awaitsConfirmation ? .completed : .failed(.subscriptionEnded)
        }
        return .failed(PeripheralError(sending: error))
    }
}

extension UpdateTransmitter: SubscriptionsDelegate {
    func routesChanged() {
        releaseHeld()
    }

}

extension UpdateTransmitter: SocketSenderDelegate {
    func holdBack(_ update: BackendUpdate) {
        held.append(update)
    }

    func pauseEnded() {
        transmitSubmitted()
    }
}

extension PeripheralError {
    fileprivate static let outlived = PeripheralError(
        code: .notSubscribed,
        message: "The central subscribed again before the update was sent."
    )

    fileprivate static let serviceRemovedUnsent = PeripheralError(
        code: .serviceRemoved,
        message: "The program removed the service before the update was sent."
    )

    fileprivate static let givenUpUnsent = PeripheralError(
        code: .unconfirmed,
        message: "The update was given up before it was sent."
    )

    /// Creates the reason why an update could not be sent.
    fileprivate init(sending error: any Error) {
        switch error {
        case let error as PeripheralError:
            self = error
        default:
            self.init(
                code: .connectionLost,
                message: "The update could not be sent: \(error).",
                cause: error
            )
        }
    }
}
