internal import PeripheralCore
internal import PeripheralKit

/// Tracks which centrals bluetoothd may send values that demand a secure link, by what is proven of their
/// links.
///
/// bluetoothd checks the link when a central subscribes, and never again. To a central that returns under its
/// address, it sends every value that the central has subscribed to, encrypted or not, even when the central
/// was forgotten in between. So every central is checked here whose configuration bluetoothd might have kept.
///
/// A pure value.
struct SecuredReceivers {
    /// The subscribers that must not get a value.
    struct Insecure: Hashable {
        var centrals: Set<Central.ID> = []
        /// Whether there may be a subscriber of which nothing is known.
        var includesStrangers = false

        var isEmpty: Bool { centrals.isEmpty && !includesStrangers }
    }

    private struct Receiver {
        var central: Central
        var isConnected = true
        /// The characteristics to which it may have subscribed.
        var characteristics: Set<AttributeHandle> = []
        /// The security that bluetoothd has demanded of this connection, and found.
        var provenByConnection = SecurityLevel.open
        /// The security that bluetoothd has found in connections that were encrypted by the keys of the bond.
        var provenByBond = SecurityLevel.open

        /// Whether the central is disconnected, or its link secure.
        func isSecure(at level: SecurityLevel, links: [LinkState]?) -> Bool {
            guard let links else { return !isConnected || provenByConnection >= level }
            // The path of a device keeps the address with which it first came.
            let own = links.filter { $0.address == central.address || $0.address == central.id.address }
            // The kernel may know an address that bluetoothd has not reported.
            guard !own.isEmpty else { return !isConnected }
            return own.allSatisfy(\.isEncrypted)
                && (level <= .encrypted || max(provenByConnection, provenByBond) >= level)
        }
    }

    private var receivers: [Central.ID: Receiver] = [:]
    /// The characteristics with a subscriber that bluetoothd has not named.
    private var subscribedByStrangers: Set<AttributeHandle> = []

    /// Records that bluetoothd has let a central do something that demands a level.
    mutating func served(_ central: Central, at level: SecurityLevel) {
        guard level > .open else { return }
        var receiver = receivers[central.id] ?? Receiver(central: central)
        receiver.central = central
        receiver.isConnected = true
        receiver.provenByConnection = max(receiver.provenByConnection, level)
        receivers[central.id] = receiver
    }

    /// Records that bluetoothd has let a central subscribe to a characteristic that demands a level.
    mutating func subscribed(
        _ central: Central,
        to characteristic: AttributeHandle,
        at level: SecurityLevel
    ) {
        served(central, at: level)
        receivers[central.id]?.characteristics.insert(characteristic)
    }

    /// Records a subscriber that bluetoothd does not name.
    mutating func strangerSubscribed(to characteristic: AttributeHandle) {
        subscribedByStrangers.insert(characteristic)
    }

    /// Records that no unnamed central is subscribed any more.
    mutating func strangersUnsubscribed(from characteristic: AttributeHandle) {
        subscribedByStrangers.remove(characteristic)
    }

    /// Records that a central is connected, or what has changed about it.
    mutating func connected(_ central: Central) {
        receivers[central.id]?.central = central
        receivers[central.id]?.isConnected = true
    }

    /// Records that a central has disconnected: bluetoothd clears the configurations of an unbonded central.
    mutating func disconnected(_ central: Central) {
        guard central.isBonded, var receiver = receivers[central.id] else {
            receivers[central.id] = nil
            return
        }
        receiver.central = central
        receiver.isConnected = false
        receiver.provenByBond = max(receiver.provenByBond, receiver.provenByConnection)
        receiver.provenByConnection = .open
        receivers[central.id] = receiver
    }

    /// Records that the keys of a central are gone: its next keys may be of any kind.
    mutating func forgotten(_ central: Central.ID) {
        receivers[central]?.provenByBond = .open
    }

    /// Records that a central may be about to get new keys.
    ///
    /// - Parameters:
    ///   - central: The central.
    ///   - level: The level that is certain for a link that they encrypt.
    mutating func mayPair(_ central: Central.ID, at level: SecurityLevel) {
        guard let receiver = receivers[central] else { return }
        receivers[central]?.provenByConnection = min(receiver.provenByConnection, level)
        receivers[central]?.provenByBond = min(receiver.provenByBond, level)
    }

    /// Returns the centrals that might be sent a value without a link that is proven to be secure.
    ///
    /// - Parameters:
    ///   - characteristic: The characteristic.
    ///   - level: The level that it demands.
    ///   - links: The connections that exist; `nil` when they are not known. Then only what bluetoothd has
    ///     found in the current connection counts.
    /// - Returns: Those centrals. Disconnected centrals are not among them.
    func insecure(
        for characteristic: AttributeHandle,
        at level: SecurityLevel,
        links: [LinkState]?
    ) -> Insecure {
        var insecure = Insecure()
        for (id, receiver) in receivers where receiver.characteristics.contains(characteristic) {
            if !receiver.isSecure(at: level, links: links) { insecure.centrals.insert(id) }
        }
        if subscribedByStrangers.contains(characteristic) {
            let areAllEncrypted = links?.allSatisfy(\.isEncrypted) ?? false
            insecure.includesStrangers = level > .encrypted || !areAllEncrypted
        }
        return insecure
    }
}
