internal import PeripheralCore
internal import PeripheralKit

/// The route of an update to bluetoothd.
enum UpdateRoute {
    /// A D-Bus signal.
    ///
    /// The signal contains the value. bluetoothd sends this value to all subscribers.
    case bus
    /// The sockets of the subscribers that receive the update.
    ///
    /// `lacking` contains an error if some subscribers do not receive the update.
    case sockets([SubscriptionTable.Socket], lacking: PeripheralError? = nil)
    /// No route yet.
    ///
    /// The backend delays the update until the route is known.
    case later
    case none(BackendUpdateOutcome)
}

/// Chooses the route of each update.
///
/// A value on the bus reaches all subscribers. A value on a socket reaches one subscriber. bluetoothd also
/// sends values from the bus to subscribers that have a socket. Therefore an update uses only one route.
struct UpdateRouting {
    private let context: CentralsContext
    private let subscriptions: Subscriptions
    private let security: SubscriberSecurity

    init(in context: CentralsContext, subscriptions: Subscriptions, security: SubscriberSecurity) {
        (self.context, self.subscriptions, self.security) = (context, subscriptions, security)
    }

    /// Returns the route of an update to the subscribers that may receive it.
    func route(of update: BackendUpdate) -> UpdateRoute {
        guard let insecure = security.insecureSubscribers(of: update.characteristic) else {
            return openRoute(of: update)
        }
        return route(of: update, withholdingFrom: insecure)
    }

    private func openRoute(of update: BackendUpdate) -> UpdateRoute {
        let subscribers = subscriptions.subscribers(of: update.characteristic)
        let count = subscriptions.count(of: update.characteristic)
        let recipients: [SubscriptionTable.Subscriber]
        switch update.recipients {
        case .subscribers:
            if let missed = missed(update) { return .none(.failed(.notSubscribed(missed))) }
            guard count > 0 else { return .none(.completed) }
            recipients = subscribers
        case .central(let central):
            recipients = subscribers.filter { $0.central.id == central }
            guard !recipients.isEmpty else { return .none(.failed(.notSubscribed(central))) }
        }
        let sockets = recipients.filter { $0.route == .socket }.map {
            SubscriptionTable.Socket(characteristic: update.characteristic, central: $0.central.id)
        }
        // A central that requests indications through a socket can crash bluetoothd 5.80 and later. When an
        // indication is confirmed, bluetoothd uses the socket, even if the end of the subscription has
        // already ended the socket (`sock_io_conf` in gatt-database.c). Therefore the backend uses a socket
        // only if no other route reaches one of several subscribers.
        let isIndicated = context.isIndicated(update.characteristic)
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

    /// Returns the route of an update to secure subscribers, as far as insecure subscribers are not reached.
    ///
    /// For notifications, the exclusion of insecure subscribers is not reported. Notifications may be missed,
    /// and a central that has just reconnected would fail every update until it has encrypted. The exclusion
    /// is reported for an indication to all subscribers, and if the program has named the centrals that an
    /// update must reach.
    private func route(
        of update: BackendUpdate,
        withholdingFrom insecure: SecuredSubscribers.Insecure
    ) -> UpdateRoute {
        let subscribers = subscriptions.subscribers(of: update.characteristic)
        let reachable = canUseSockets(for: update) ? subscribers.filter { $0.route == .socket } : []
        let secure = reachable.map(\.central.id).filter { !insecure.centrals.contains($0) }
        let sockets = secure.map {
            SubscriptionTable.Socket(characteristic: update.characteristic, central: $0)
        }
        if sockets.isEmpty, subscribers.contains(where: { !insecure.centrals.contains($0.central.id) }) {
            security.logWithheld(update.characteristic)
        }
        switch update.recipients {
        case .subscribers where !update.requiredRecipients.isSubset(of: secure):
            return .none(.failed(missed(update).map { .notSubscribed($0) } ?? .insecure))
        case .subscribers where !update.isForAllSubscribers:
            return .sockets(sockets)
        case .subscribers where sockets.isEmpty:
            return .none(subscribers.isEmpty ? .completed : .failed(.insecure))
        case .subscribers:
            return .sockets(sockets, lacking: sockets.count == subscribers.count ? nil : .insecure)
        case .central(let central):
            if secure.contains(central) {
                return .sockets([
                    SubscriptionTable.Socket(characteristic: update.characteristic, central: central)
                ])
            }
            guard subscribers.contains(where: { $0.central.id == central }) else {
                return .none(.failed(.notSubscribed(central)))
            }
            let isInsecure = insecure.centrals.contains(central) || subscribers.count == 1
            return .none(.failed(isInsecure ? .insecure : .notAddressable(central)))
        }
    }

    /// Returns a central that an update to all subscribers must reach, but that has not subscribed.
    private func missed(_ update: BackendUpdate) -> Central.ID? {
        let subscribers = subscriptions.subscribers(of: update.characteristic)
        return update.requiredRecipients.first { missed in !subscribers.contains { $0.central.id == missed } }
    }

    private func canUseSockets(for update: BackendUpdate) -> Bool {
        // An empty message would end the socket.
        !update.value.isEmpty && (!update.awaitsConfirmation || context.abilities.confirmsOnSockets)
    }
}

extension PeripheralError {
    fileprivate static let insecure = PeripheralError(
        code: .insufficientSecurity,
        message: "The link to a central lacks the security that the characteristic requires. "
            + "The central has reconnected and has not encrypted the link yet. "
            + "If bluetoothd reaches subscribers only together, no subscriber receives the value."
    )

    fileprivate static func notSubscribed(_ central: Central.ID) -> PeripheralError {
        PeripheralError(code: .notSubscribed, message: "Central \(central) has not subscribed.")
    }

    fileprivate static func notAddressable(_ central: Central.ID) -> PeripheralError {
        PeripheralError(
            code: .notAddressable,
            message: "bluetoothd can send an update for central \(central) only to all subscribers together. "
                + "BlueZ 5.76 and later (5.80 for indications) reaches each subscriber separately, unless its "
                + "subscription is from an earlier connection or another central has just disconnected."
        )
    }
}
