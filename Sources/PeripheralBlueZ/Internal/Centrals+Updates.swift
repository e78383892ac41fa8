internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// The ways of updates: the bus, which reaches all subscribers, and the sockets, each of which reaches one.
///
/// An update takes one way only: bluetoothd passes on what comes by the bus also to those who have a socket. Updates keep
/// their order on each way; when the way changes, because a central without a socket joins or leaves, bluetoothd may send
/// the last by the one and the first by the other in either order.
extension Centrals {
    /// What the bus has not taken yet may grow to this many bytes; then updates are not yet delivered.
    private static let outgoingBound = 64 * 1024

    enum Way {
        /// By the bus, to all who have subscribed.
        case bus
        /// By sockets; what keeps it from others who are to confirm it.
        case sockets([SubscriptionTable.Socket], lacking: PeripheralError? = nil)
        case none(UpdateOutcome)
    }

    nonisolated func submit(_ update: Update) {
        connection.loop.execute { self.assumeIsolated { $0.transmit(update) } }
    }

    private func transmit(_ update: Update) {
        guard !isEnding else {
            return end(update, outcome(of: update, notSentBecause: BusError.disconnected))
        }
        let way =
            insecureReceivers(of: update.characteristic).map { self.way(of: update, withholdingFrom: $0) }
            ?? self.way(of: update)
        switch way {
        case .bus: announce(update)
        case .sockets(let sockets, let failure): send(update, by: sockets, lacking: failure)
        case .none(let outcome): end(update, outcome)
        }
    }

    private func way(of update: Update) -> Way {
        let subscribers = subscriptions.subscribers(of: update.characteristic)
        let count = subscriptions.count(of: update.characteristic)
        let recipients: [SubscriptionTable.Subscriber]
        switch update.recipients {
        case .subscribers:
            guard count > 0 else { return .none(.delivered) }
            recipients = subscribers
        case .central(let central):
            recipients = subscribers.filter { $0.central.id == central }
            guard !recipients.isEmpty else { return .none(.failed(.notSubscribed(central))) }
        }
        let sockets = recipients.filter { $0.route == .socket }.map {
            SubscriptionTable.Socket(characteristic: update.characteristic, central: $0.central.id)
        }
        switch update.recipients {
        case .subscribers where sockets.count == count && canUseSockets(for: update):
            return .sockets(sockets)
        case .central where sockets.count == 1 && canUseSockets(for: update):
            return .sockets(sockets)
        case .central(let central) where count > 1:
            return .none(.failed(.notAddressable(central)))
        default:
            return .bus
        }
    }

    func canUseSockets(for update: Update) -> Bool {
        // An empty message ends the socket.
        !update.value.isEmpty && (!update.awaitsConfirmation || abilities.confirmsOnSockets)
    }

    private func end(_ update: Update, _ outcome: UpdateOutcome) {
        report(.updateEnded(update.id, outcome))
    }
}

// MARK: - Sockets

extension Centrals {
    /// Sends an update by sockets; the failure is why others do not get it who are to confirm it.
    private func send(
        _ update: Update,
        by ways: [SubscriptionTable.Socket],
        lacking failure: PeripheralError?
    ) {
        if abilities.confirmsOnSockets {
            let sources = ways.map { (Confirmations.Source.socket($0), 1) }
            expectConfirmation(of: update, from: Dictionary(uniqueKeysWithValues: sources), lacking: failure)
        }
        willDepart(update, for: ways.map(\.central))
        guard !update.awaitsConfirmation else {
            for way in ways { sockets[way]?.send(update.value) { _ in } }
            return
        }
        // On the loop, as the sockets are.
        var missing = ways.count
        var isLost = false
        for way in ways {
            guard let socket = sockets[way] else {
                missing -= 1
                isLost = true
                continue
            }
            socket.send(update.value) { [weak self] isTaken in
                missing -= 1
                isLost = isLost || !isTaken
                guard missing == 0 else { return }
                let outcome = UpdateOutcome(isLost: isLost, of: update.recipients)
                self?.assumeIsolated { $0.taken(update, outcome) }
            }
        }
    }
}

extension UpdateOutcome {
    /// Who is lost has left; an update for all subscribers is for those who are still there.
    fileprivate init(isLost: Bool, of recipients: Update.Recipients) {
        self = isLost && recipients != .subscribers ? .failed(.left) : .delivered
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

    /// When the bus is gone, so are all centrals: what is for those who have subscribed is for nobody then.
    private func outcome(of update: Update, notSentBecause error: any Error) -> UpdateOutcome {
        if case BusError.disconnected = error {
            let isForAll = update.recipients == .subscribers && !update.awaitsConfirmation
            return isForAll ? .delivered : .failed(.left)
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

    fileprivate static let left = PeripheralError(
        code: .notSubscribed,
        message: "The central has ended its subscription, or is gone."
    )
}
