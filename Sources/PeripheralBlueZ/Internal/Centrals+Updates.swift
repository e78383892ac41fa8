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

    nonisolated func submit(_ update: Update) {
        connection.loop.execute { self.assumeIsolated { $0.transmit(update) } }
    }

    /// Takes note that some central has confirmed an indication that went by the bus, or is gone.
    func confirmed(_ characteristic: AttributeHandle) {
        end(confirmations.confirmed(.call(characteristic)))
    }

    private func transmit(_ update: Update) {
        let subscribers = subscriptions.subscribers(of: update.characteristic)
        switch update.recipients {
        case .subscribers:
            let isEachReached = !subscribers.isEmpty && subscribers.allSatisfy { $0.route == .socket }
            if isEachReached, canUseSockets(for: update) {
                send(update, to: subscribers.map(\.central.id))
            } else {
                announce(update, confirmedBy: max(subscribers.count, 1))
            }
        case .central(let central):
            guard let subscriber = subscribers.first(where: { $0.central.id == central }) else {
                return end(update, .failed(.notSubscribed(central)))
            }
            if subscriber.route == .socket, canUseSockets(for: update) {
                send(update, to: [central])
            } else if subscribers.count == 1 {
                announce(update, confirmedBy: 1)
            } else {
                end(update, .failed(.notAddressable(central)))
            }
        }
    }

    private func canUseSockets(for update: Update) -> Bool {
        // An empty message ends the socket.
        !update.value.isEmpty && (!update.awaitsConfirmation || abilities.confirmsOnSockets)
    }

    private func end(_ update: Update, _ outcome: UpdateOutcome) {
        report(.updateEnded(update.id, outcome))
    }
}

// MARK: - Sockets

extension Centrals {
    private func send(_ update: Update, to centrals: [Central.ID]) {
        let ways = centrals.map {
            SubscriptionTable.Socket(characteristic: update.characteristic, central: $0)
        }
        guard !update.awaitsConfirmation else {
            end(confirmations.sent(update.id, awaiting: ways.map { .socket($0) }))
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
                self?.assumeIsolated { $0.end(update, outcome) }
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
    private func announce(_ update: Update, confirmedBy confirmations: Int) {
        do {
            guard let path = paths[update.characteristic] else {
                throw PeripheralError(
                    code: .notDeclared,
                    message: "There is no characteristic with the handle \(update.characteristic)."
                )
            }
            try connection.assumeIsolated { connection in
                try connection.emitPropertyChanged(path, BlueZ.characteristic, "Value", bytes: update.value)
            }
        } catch {
            return end(update, .failed(PeripheralError(sending: error)))
        }
        if update.awaitsConfirmation {
            let sources = Array(
                repeating: Confirmations.Source.call(update.characteristic),
                count: confirmations
            )
            end(self.confirmations.sent(update.id, awaiting: sources))
        } else {
            endWhenTaken(update)
        }
    }

    /// An update counts as delivered when the bus keeps up; a bus that does not holds up those after it.
    private func endWhenTaken(_ update: Update) {
        let isSlow = connection.assumeIsolated { $0.outgoingSize > Self.outgoingBound }
        guard isSlow else { return end(update, .delivered) }
        Task {
            do {
                try await connection.waitUntilOutgoing(isAtMost: Self.outgoingBound)
                end(update, .delivered)
            } catch {
                end(update, .failed(PeripheralError(sending: error)))
            }
        }
    }
}

extension PeripheralError {
    /// Why an update could not be sent.
    fileprivate init(sending error: any Error) {
        switch error {
        case let error as PeripheralError:
            self = error
        case BusError.disconnected:
            self.init(code: .stopped, message: "The peripheral is no longer published.")
        default:
            self.init(
                code: .connectionLost,
                message: "The update could not be sent: \(error).",
                cause: error
            )
        }
    }

    fileprivate static func notSubscribed(_ central: Central.ID) -> PeripheralError {
        PeripheralError(code: .notSubscribed, message: "Central \(central) has not subscribed.")
    }

    fileprivate static func notAddressable(_ central: Central.ID) -> PeripheralError {
        PeripheralError(
            code: .notAddressable,
            message: "bluetoothd can reach central \(central) only together with all other subscribers; "
                + "BlueZ 5.76 and later can reach each by itself, unless it was subscribed before it connected or "
                + "another has just left."
        )
    }

    fileprivate static let left = PeripheralError(
        code: .notSubscribed,
        message: "The central has ended its subscription, or is gone."
    )
}
