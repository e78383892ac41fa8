internal import Logging
internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// Values that demand a secure link: bluetoothd does not see to that, see ``SecuredReceivers``.
///
/// What is checked is the moment in which an update is handed over. A central that comes back in the instant before
/// bluetoothd sends it is not seen.
extension Centrals {
    /// Tells the log by what links are judged, unless it knows.
    func logJudgement(of adapter: ObjectPath) {
        guard characteristics.values.contains(where: { $0.security > .open }) else { return }
        guard kernelLinks.links(of: adapter) == nil else { return log.forget(.unknownLinkSecurity) }
        log.tell(
            .unknownLinkSecurity,
            .notice,
            """
            The kernel does not tell which links are encrypted, perhaps because this program may open no Bluetooth \
            socket. A central that comes back gets values that demand a secure link only after it has used an \
            attribute that demands the same.
            """
        )
    }

    /// Takes note that bluetoothd has let a central do what demands a level.
    func served(_ central: Central, at level: SecurityLevel) {
        receivers.served(central, at: level)
    }

    /// Takes note that a central pairs, which may give it other keys.
    func mayPair(_ central: Central.ID, at level: SecurityLevel) {
        receivers.mayPair(central, at: level)
    }

    /// What a characteristic demands of its subscribers' links; `nil` for nothing.
    func notifySecurity(of characteristic: AttributeHandle) -> SecurityLevel? {
        characteristics[characteristic].map(\.security).flatMap { $0 > .open ? $0 : nil }
    }

    /// Who must not be sent a value of a characteristic now; `nil` when everybody may be.
    func insecureReceivers(of characteristic: AttributeHandle) -> SecuredReceivers.Insecure? {
        guard let level = notifySecurity(of: characteristic) else { return nil }
        let links = adapter.flatMap { kernelLinks.links(of: $0) }
        let insecure = receivers.insecure(for: characteristic, at: level, links: links)
        return insecure.isEmpty ? nil : insecure
    }

    /// Tells once for each characteristic that some cannot be reached without others who must not be.
    private func tellWithheld(_ characteristic: AttributeHandle) {
        guard let uuid = characteristics[characteristic]?.uuid else { return }
        log.tell(
            .withheldValues(of: characteristic),
            .notice,
            """
            Values are withheld from all subscribers while the link of one of them is not secure: bluetoothd reaches \
            them only together.
            """,
            metadata: ["peripheral.characteristic": .bounded("\(uuid)")]
        )
    }

    /// The way of an update to those who may get it, as far as they can be reached without the others.
    ///
    /// The others are not told: what comes by notifications may be missed, and a central that has just come back would
    /// otherwise fail every update until it has encrypted. Who indicates to all wants to know, and so does who has said whom
    /// it must not miss.
    func way(of update: Update, withholdingFrom insecure: SecuredReceivers.Insecure) -> Way {
        let subscribers = subscriptions.subscribers(of: update.characteristic)
        let reachable = canUseSockets(for: update) ? subscribers.filter { $0.route == .socket } : []
        let secure = reachable.map(\.central.id).filter { !insecure.centrals.contains($0) }
        let sockets = secure.map {
            SubscriptionTable.Socket(characteristic: update.characteristic, central: $0)
        }
        if sockets.isEmpty, subscribers.contains(where: { !insecure.centrals.contains($0.central.id) }) {
            tellWithheld(update.characteristic)
        }
        switch update.recipients {
        case .subscribers where !update.mustReach.isSubset(of: secure):
            return .none(.failed(missed(update).map { .notSubscribed($0) } ?? .insecure))
        case .subscribers where !update.isForWhoeverIsThere:
            return .sockets(sockets)
        case .subscribers where sockets.isEmpty:
            return .none(subscribers.isEmpty ? .delivered : .failed(.insecure))
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
}

extension PeripheralError {
    fileprivate static let insecure = PeripheralError(
        code: .insufficientSecurity,
        message: "The link of a central does not have the security that the characteristic demands: "
            + "it has come back and not yet encrypted. "
            + "Where bluetoothd reaches only all subscribers together, nobody gets the value."
    )
}
