internal import PeripheralCore
internal import PeripheralKit

/// Tracks the centrals to which bluetoothd may send values that require a secure link.
///
/// bluetoothd checks the link when a central subscribes, and does not check it again. If a central reconnects
/// under its address, bluetoothd sends every subscribed value, even on a link without encryption. This also
/// applies to a central that was forgotten in the meantime. Therefore this type checks every central whose
/// configuration bluetoothd could have kept.
///
/// The tracker is a pure value. It decides by the proven security of the links.
struct SecuredSubscribers {
    /// The subscribers that must not receive a value.
    struct Insecure: Hashable {
        var centrals: Set<Central.ID> = []
        /// Whether there may be an unknown subscriber.
        var includesStrangers = false

        var isEmpty: Bool { centrals.isEmpty && !includesStrangers }
    }

    private struct Subscriber {
        var central: Central
        var isConnected = true
        /// The characteristics to which the central may have subscribed.
        var characteristics: Set<AttributeHandle> = []
        /// The security that bluetoothd has required of this connection, and found.
        var provenByConnection = SecurityLevel.open
        /// The security that bluetoothd has found in connections that were encrypted by the keys of the bond.
        var provenByBond = SecurityLevel.open

        /// Whether the central is disconnected, or its link is secure.
        func isSecure(at level: SecurityLevel, links: [LinkState]?) -> Bool {
            guard let links else { return !isConnected || provenByConnection >= level }
            // The path of a device keeps the address of the device's first connection.
            let own = links.filter { $0.address == central.address || $0.address == central.id.address }
            // The kernel may know an address that bluetoothd has not reported.
            guard !own.isEmpty else { return !isConnected }
            return own.allSatisfy(\.isEncrypted)
                && (level <= .encrypted || max(provenByConnection, provenByBond) >= level)
        }
    }

    private var subscribers: [Central.ID: Subscriber] = [:]
    /// The characteristics with a subscriber that bluetoothd has not named.
    private var subscribedByStrangers: Set<AttributeHandle> = []

    /// Records that bluetoothd has permitted a request of a central that requires a security level.
    mutating func served(_ central: Central, at level: SecurityLevel) {
        guard level > .open else { return }
        var subscriber = subscribers[central.id] ?? Subscriber(central: central)
        subscriber.central = central
        subscriber.isConnected = true
        subscriber.provenByConnection = max(subscriber.provenByConnection, level)
        subscribers[central.id] = subscriber
    }

    /// Records that a central has subscribed to a characteristic that requires a security level.
    mutating func subscribed(
        _ central: Central,
        to characteristic: AttributeHandle,
        at level: SecurityLevel
    ) {
        served(central, at: level)
        subscribers[central.id]?.characteristics.insert(characteristic)
    }

    /// Records a subscriber that bluetoothd does not name.
    mutating func strangerSubscribed(to characteristic: AttributeHandle) {
        subscribedByStrangers.insert(characteristic)
    }

    /// Records that no unnamed central is subscribed any more.
    mutating func strangersUnsubscribed(from characteristic: AttributeHandle) {
        subscribedByStrangers.remove(characteristic)
    }

    /// Records that a characteristic no longer exists.
    mutating func removed(_ characteristic: AttributeHandle) {
        subscribedByStrangers.remove(characteristic)
        for central in subscribers.keys { subscribers[central]?.characteristics.remove(characteristic) }
    }

    /// Records that a central is connected, or records changes of the central.
    mutating func connected(_ central: Central) {
        subscribers[central.id]?.central = central
        subscribers[central.id]?.isConnected = true
    }

    /// Records that a central has disconnected.
    ///
    /// bluetoothd clears the configurations of an unbonded central.
    mutating func disconnected(_ central: Central) {
        guard central.isBonded, var subscriber = subscribers[central.id] else {
            subscribers[central.id] = nil
            return
        }
        subscriber.central = central
        subscriber.isConnected = false
        subscriber.provenByBond = max(subscriber.provenByBond, subscriber.provenByConnection)
        subscriber.provenByConnection = .open
        subscribers[central.id] = subscriber
    }

    /// Records that the keys of a central no longer exist.
    ///
    /// The next keys of the central may be of any kind.
    mutating func forgotten(_ central: Central.ID) {
        subscribers[central]?.provenByBond = .open
    }

    /// Records that a central may be about to receive new keys.
    ///
    /// - Parameters:
    ///   - central: The central.
    ///   - level: The security level that is certain for a link that is encrypted with the new keys.
    mutating func mayPair(_ central: Central.ID, at level: SecurityLevel) {
        guard let subscriber = subscribers[central] else { return }
        subscribers[central]?.provenByConnection = min(subscriber.provenByConnection, level)
        subscribers[central]?.provenByBond = min(subscriber.provenByBond, level)
    }

    /// Returns the centrals that could receive a value on a link that is not proven to be secure.
    ///
    /// - Parameters:
    ///   - characteristic: The characteristic.
    ///   - level: The security level that the characteristic requires.
    ///   - links: The existing connections; `nil` if they are not known. With `nil`, only the security that
    ///     bluetoothd has found in the current connection counts.
    /// - Returns: The centrals without a proven secure link. Disconnected centrals are not included.
    func insecure(
        for characteristic: AttributeHandle,
        at level: SecurityLevel,
        links: [LinkState]?
    ) -> Insecure {
        var insecure = Insecure()
        for (id, subscriber) in subscribers where subscriber.characteristics.contains(characteristic) {
            if !subscriber.isSecure(at: level, links: links) { insecure.centrals.insert(id) }
        }
        if subscribedByStrangers.contains(characteristic) {
            let areAllEncrypted = links?.allSatisfy(\.isEncrypted) ?? false
            insecure.includesStrangers = level > .encrypted || !areAllEncrypted
        }
        return insecure
    }
}
