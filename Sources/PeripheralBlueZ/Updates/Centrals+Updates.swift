internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit
internal import Synchronization

/// The ways of updates: the bus, which reaches all subscribers, and the sockets, each of which reaches one.
///
/// An update takes one way only: bluetoothd passes on what comes by the bus also to those who have a socket. When those of a
/// characteristic take the other way than before, they wait until bluetoothd has read what went by the one.
extension Centrals {
    /// What the bus has not taken yet may grow to this many bytes; then updates are not yet delivered.
    private static let outgoingBound = 64 * 1024
    /// As often it is looked whether bluetoothd has read everything.
    private static let readingInterval = Duration.milliseconds(5)
    /// bluetoothd holds notifications back for 10 ms to send several in one packet to a central that takes that, but not
    /// indications.
    private static let gatheringTime = Duration.milliseconds(15)

    enum Way {
        /// By the bus, to all who have subscribed.
        case bus
        /// By sockets; what keeps it from others who are to confirm it.
        case sockets([SubscriptionTable.Socket], lacking: PeripheralError? = nil)
        /// Known in a moment.
        case later
        case none(UpdateOutcome)
    }

    nonisolated func submit(_ updates: [Update]) {
        let isFirst = submitted.withLock { submitted in
            defer { submitted += updates }
            return submitted.isEmpty
        }
        if isFirst { connection.loop.execute { self.assumeIsolated { $0.transmitSubmitted() } } }
    }

    /// Sends what was submitted, and tells at once what of it has ended: a change of threads for each would cost more than
    /// all the rest.
    private func transmitSubmitted() {
        if busFairness.isAwaited { return }
        let updates = submitted.withLock { submitted in
            defer { submitted = [] }
            return submitted
        }
        tellingEndsTogether {
            var run: SocketRun?
            for update in withoutOver(updates) {
                if let last = run, last.covers(update) {
                    run = send(update, by: last)
                } else {
                    run = transmit(update)
                }
            }
        }
    }

    /// Takes note that packets have gone by sockets.
    func sent(packets count: Int) {
        guard busFairness.sent(count, at: .now) else { return }
        afterAnswer { centrals in
            centrals.busFairness.answered(at: .now)
            centrals.transmitSubmitted()
        }
    }

    /// Does something, and tells at once of all updates that end with it.
    func tellingEndsTogether<Outcome>(_ body: () -> Outcome) -> Outcome {
        guard endings == nil else { return body() }
        endings = []
        defer { tellEnds() }
        return body()
    }

    /// Tells at once of all updates that end in this turn of the loop.
    func tellEndsTogether() {
        guard endings == nil else { return }
        endings = []
        connection.loop.execute { self.assumeIsolated { $0.tellEnds() } }
    }

    private func tellEnds() {
        let ended = endings ?? []
        endings = nil
        if !ended.isEmpty { tell(.updatesEnded(ended)) }
    }

    /// Tells the host what has happened.
    func report(_ event: BackendEvent) {
        if case .updateEnded(let id, let outcome) = event { ended(id, outcome) } else { tell(event) }
    }

    /// Tells the host how an update has ended, together with others that end in this turn.
    func ended(_ id: Update.ID, _ outcome: UpdateOutcome) {
        if endings == nil { tell(.updateEnded(id, outcome)) } else { endings?.append((id, outcome)) }
    }

    /// Sends an update by the way that is right for it.
    ///
    /// - Returns: The sockets that have taken it, which are also the way of those that follow it at once.
    @discardableResult
    private func transmit(_ update: Update) -> SocketRun? {
        guard !isEnding else {
            end(update, outcome(of: update, notSentBecause: BusError.disconnected))
            return nil
        }
        guard !turning.contains(update.characteristic), !isAwaited(update.characteristic) else {
            held.append(update)
            return nil
        }
        let way =
            insecureReceivers(of: update.characteristic).map { self.way(of: update, withholdingFrom: $0) }
            ?? self.way(of: update)
        switch way {
        case .bus where !canTurn(to: .bus, for: update.characteristic),
            .sockets where !canTurn(to: .socket, for: update.characteristic):
            held.append(update)
            turn(update.characteristic)
        case .bus: announce(update)
        case .sockets(let sockets, let failure):
            let run = send(update, by: run(of: update, by: sockets, lacking: failure))
            // Whether a link is secure is looked at for each.
            return notifySecurity(of: update.characteristic) == nil ? run : nil
        case .later: held.append(update)
        case .none(let outcome): end(update, outcome)
        }
        return nil
    }

    /// Whether an indication may reach a central that is back, and counts as subscribed only in a moment.
    ///
    /// Its confirmation would be taken for that of another.
    private func isAwaited(_ characteristic: AttributeHandle) -> Bool {
        characteristics[characteristic]?.isIndicated == true
            && subscriptions.isAwaited(characteristic, among: returning.keys)
    }

    /// Keeps an update that a socket has not taken.
    func holdBack(_ update: Update) {
        willNotDepart(update)
        held.append(update)
    }

    /// Takes out what has not been sent yet for a subscription that is over.
    func takeUnsent(for socket: SubscriptionTable.Socket) -> [Update] {
        func isOver(_ update: Update) -> Bool {
            update.characteristic == socket.characteristic && update.recipients == .central(socket.central)
        }
        let over = submitted.withLock { submitted in
            defer { submitted.removeAll(where: isOver) }
            return held.filter(isOver) + submitted.filter(isOver)
        }
        held.removeAll(where: isOver)
        return over
    }

    /// Whether what goes by this way cannot overtake what went by the other.
    private func canTurn(to route: SubscriptionTable.Route, for characteristic: AttributeHandle) -> Bool {
        let last = routes[characteristic] ?? route
        guard last == route || last == .socket && isAllRead(of: characteristic) else { return false }
        routes[characteristic] = route
        return true
    }

    private func isAllRead(of characteristic: AttributeHandle) -> Bool {
        sockets.allSatisfy { $0.key.characteristic != characteristic || $0.value.isRead }
    }

    /// Holds back the updates of a characteristic until bluetoothd has read those before.
    private func turn(_ characteristic: AttributeHandle) {
        turning.insert(characteristic)
        // It has read what came by the bus when it answers.
        afterAnswer { centrals in
            guard centrals.isAllRead(of: characteristic) else {
                _ = centrals.connection.loop.schedule(after: Self.readingInterval) { [weak centrals] in
                    centrals?.assumeIsolated { $0.turn(characteristic) }
                }
                return
            }
            centrals.turning.remove(characteristic)
            centrals.routes[characteristic] = nil
            centrals.releaseHeld()
        }
    }

    /// Returns when bluetoothd has handed on what sockets and bus have taken for a central; the bus is to have been asked
    /// before.
    func untilHandedOn(for central: Central.ID) async {
        while sockets.contains(where: { $0.key.central == central && !$0.value.isRead }) {
            guard (try? await Task.sleep(for: Self.readingInterval)) != nil else { return }
        }
        try? await Task.sleep(for: Self.gatheringTime)
    }

    /// Sends what was held back, as far as it can go now.
    func releaseHeld() {
        let updates = held
        held = []
        for update in withoutOver(updates) { transmit(update) }
    }

    private func way(of update: Update) -> Way {
        let subscribers = subscriptions.subscribers(of: update.characteristic)
        let count = subscriptions.count(of: update.characteristic)
        let recipients: [SubscriptionTable.Subscriber]
        switch update.recipients {
        case .subscribers:
            if let missed = missed(update) { return .none(.failed(.notSubscribed(missed))) }
            guard count > 0 else { return .none(.delivered) }
            recipients = subscribers
        case .central(let central):
            recipients = subscribers.filter { $0.central.id == central }
            guard !recipients.isEmpty else { return .none(.failed(.notSubscribed(central))) }
        }
        let sockets = recipients.filter { $0.route == .socket }.map {
            SubscriptionTable.Socket(characteristic: update.characteristic, central: $0.central.id)
        }
        // Whoever asks for indications by a socket can have bluetoothd from 5.80 on crash: it uses the socket when an
        // indication is confirmed, also when the subscription has ended meanwhile, and with it the socket (`sock_io_conf` in
        // gatt-database.c). So a socket is used only where nothing else reaches one of several.
        let isIndicated = characteristics[update.characteristic]?.isIndicated == true
        switch update.recipients {
        case .subscribers where sockets.count == count && !isIndicated && canUseSockets(for: update):
            return .sockets(sockets)
        case .central where sockets.count == 1 && !(isIndicated && count == 1) && canUseSockets(for: update):
            return .sockets(sockets)
        case .central(let central) where count > 1:
            let socket = SubscriptionTable.Socket(characteristic: update.characteristic, central: central)
            let isUncertain = canUseSockets(for: update) && subscriptions.isUncertain(socket)
            return isUncertain ? .later : .none(.failed(.notAddressable(central)))
        default:
            return .bus
        }
    }

    func canUseSockets(for update: Update) -> Bool {
        // An empty message ends the socket.
        !update.value.isEmpty && (!update.awaitsConfirmation || abilities.confirmsOnSockets)
    }

    func end(_ update: Update, _ outcome: UpdateOutcome) {
        report(.updateEnded(update.id, outcome))
    }
}

// MARK: - The bus

extension Centrals {
    private func announce(_ update: Update) {
        do {
            guard let path = characteristics[update.characteristic]?.path else {
                throw PeripheralError(
                    code: .notDeclared,
                    message: "There is no characteristic with the handle \(update.characteristic)."
                )
            }
            try connection.assumeIsolated { connection in
                try connection.emitPropertyChanged(path, BlueZ.characteristic, "Value", bytes: update.value)
            }
        } catch {
            return end(update, outcome(of: update, notSentBecause: error))
        }
        let endangered = subscriptions.announced(update.characteristic)
        reportRerouted()
        if !endangered.isEmpty { afterMoment { $0.forgetDanger(to: endangered) } }
        willDepart(
            update,
            for: subscriptions.subscribers(of: update.characteristic).map(\.central.id)
        )
        let source = Confirmations.Source.call(update.characteristic)
        expectConfirmation(of: update, from: [source: subscriptions.count(of: update.characteristic)])
        if !update.awaitsConfirmation { endWhenTaken(update) }
    }

    /// An update counts as delivered when the bus keeps up; a bus that does not holds up those after it.
    private func endWhenTaken(_ update: Update) {
        let isSlow = connection.assumeIsolated { $0.outgoingSize > Self.outgoingBound }
        guard isSlow else { return taken(update, .delivered) }
        Task {
            do {
                try await connection.waitUntilOutgoing(isAtMost: Self.outgoingBound)
                taken(update, .delivered)
            } catch {
                taken(update, outcome(of: update, notSentBecause: error))
            }
        }
    }

    /// When the bus is gone, so are all centrals: what is for whoever has subscribed is for nobody then.
    private func outcome(of update: Update, notSentBecause error: any Error) -> UpdateOutcome {
        if case BusError.disconnected = error {
            let isForAny = update.recipients == .subscribers && update.isForWhoeverIsThere
            return isForAny && !update.awaitsConfirmation ? .delivered : .failed(.subscriptionEnded)
        }
        return .failed(PeripheralError(sending: error))
    }
}

extension PeripheralError {
    /// Why an update could not be sent.
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

    static func notSubscribed(_ central: Central.ID) -> PeripheralError {
        PeripheralError(code: .notSubscribed, message: "Central \(central) has not subscribed.")
    }

    static func notAddressable(_ central: Central.ID) -> PeripheralError {
        PeripheralError(
            code: .notAddressable,
            message: "bluetoothd can reach central \(central) only together with all other subscribers; "
                + "BlueZ 5.76 and later (5.80 for indications) can reach each by itself, unless it was subscribed before "
                + "it connected or another has just left."
        )
    }
}
