internal import PeripheralCore
internal import PeripheralKit

/// To whom bluetoothd may send values that demand a secure link, and what is proven of their links.
///
/// bluetoothd checks the link when a central subscribes, and never again: to one that comes back under its address it sends
/// whatever that has subscribed to, encrypted or not, and even when it was forgotten in between. So nobody is left out
/// here whose configuration bluetoothd might have kept.
///
/// A pure value.
struct SecuredReceivers {
    /// Who must not get a value.
    struct Insecure: Hashable {
        var centrals: Set<Central.ID> = []
        /// Somebody may be among the receivers of whom nothing is known.
        var includesStrangers = false

        var isEmpty: Bool { centrals.isEmpty && !includesStrangers }
    }

    private struct Receiver {
        var central: Central
        var isConnected = true
        /// What it may have subscribed to.
        var characteristics: Set<AttributeHandle> = []
        /// What bluetoothd has demanded of this connection, and found.
        var provenByConnection = SecurityLevel.open
        /// What it has found in connections that were encrypted by the keys of the bond.
        var provenByBond = SecurityLevel.open

        /// Whether the central is gone, or its link secure.
        func isSecure(at level: SecurityLevel, links: [LinkState]?) -> Bool {
            guard let links else { return !isConnected || provenByConnection >= level }
            // The path of a device keeps the address with which it first came.
            let own = links.filter { $0.address == central.address || $0.address == central.id.address }
            // The kernel may know an address that bluetoothd has not told.
            guard !own.isEmpty else { return !isConnected }
            return own.allSatisfy(\.isEncrypted)
                && (level <= .encrypted || max(provenByConnection, provenByBond) >= level)
        }
    }

    private var receivers: [Central.ID: Receiver] = [:]
    /// What somebody has subscribed to of whom bluetoothd has not said who it is.
    private var subscribedByStrangers: Set<AttributeHandle> = []

    /// Takes note that bluetoothd has let a central do what demands a level.
    mutating func served(_ central: Central, at level: SecurityLevel) {
        guard level > .open else { return }
        var receiver = receivers[central.id] ?? Receiver(central: central)
        receiver.central = central
        receiver.isConnected = true
        receiver.provenByConnection = max(receiver.provenByConnection, level)
        receivers[central.id] = receiver
    }

    /// Takes note that bluetoothd has let a central subscribe to what demands a level.
    mutating func subscribed(
        _ central: Central,
        to characteristic: AttributeHandle,
        at level: SecurityLevel
    ) {
        served(central, at: level)
        receivers[central.id]?.characteristics.insert(characteristic)
    }

    /// Takes note that somebody has subscribed.
    mutating func strangerSubscribed(to characteristic: AttributeHandle) {
        subscribedByStrangers.insert(characteristic)
    }

    /// Takes note that no stranger is subscribed any more.
    mutating func strangersUnsubscribed(from characteristic: AttributeHandle) {
        subscribedByStrangers.remove(characteristic)
    }

    /// Takes note that a central is there, or of what has changed about it.
    mutating func connected(_ central: Central) {
        receivers[central.id]?.central = central
        receivers[central.id]?.isConnected = true
    }

    /// Takes note that a central is gone: bluetoothd clears the configurations of one that is not bonded.
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

    /// Takes note that the keys of a central are gone: those to come may be of any kind.
    mutating func forgotten(_ central: Central.ID) {
        receivers[central]?.provenByBond = .open
    }

    /// Takes note that a central may be about to get new keys.
    ///
    /// - Parameters:
    ///   - central: The central.
    ///   - level: What is certain of a link that they encrypt.
    mutating func mayPair(_ central: Central.ID, at level: SecurityLevel) {
        guard let receiver = receivers[central] else { return }
        receivers[central]?.provenByConnection = min(receiver.provenByConnection, level)
        receivers[central]?.provenByBond = min(receiver.provenByBond, level)
    }

    /// Who might be sent a value without a link that is proven to be secure.
    ///
    /// - Parameters:
    ///   - characteristic: The characteristic.
    ///   - level: What it demands.
    ///   - links: The connections that there are; `nil` when that is not known. Then only what bluetoothd has
    ///     found in this very connection counts.
    /// - Returns: Those centrals. Who is not there is not among them.
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
