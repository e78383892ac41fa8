internal import PeripheralCore

/// Decides when centrals may pair, and follows their attempts.
///
/// The state machine is a pure value. It receives the changes of centrals, the questions of the Bluetooth
/// stack and the time, and returns what to do.
struct PairingStateMachine {
    enum Action: Hashable {
        case report(SessionEvent)
        /// The stack has to learn whether centrals may pair.
        case allowanceChanged
        case disconnect(Central)
        /// The number of bonds may exceed the maximum.
        case trimBonds
        /// The order of the bonds has changed, and can be preserved.
        case bondsChanged([DeviceAddress])
    }

    /// An attempt of a central to pair.
    private struct Attempt {
        var central: Central
        /// The number of questions that wait for an answer.
        var questions = 0
        /// The time at which the attempt has failed; `nil` while a question waits.
        var expiry: Duration?
    }

    /// The time from an answer to the end of an attempt (Core Specification, Vol 3, Part H, 3.4).
    static let attemptLimit = Duration.seconds(30)
    /// The maximum number of bonds whose order is known.
    static let maximumOrder = 256

    let policy: PairingPolicy
    /// The end of the pairing window; `nil` if no window is open.
    private var windowEnd: Duration?
    private var centrals: [Central.ID: Central] = [:]
    private var attempts: [Central.ID: Attempt] = [:]
    /// The identity addresses of the centrals that have bonded with this peripheral; the oldest is the first.
    private(set) var bonds: [DeviceAddress]

    init(_ policy: PairingPolicy, bonds: [DeviceAddress] = []) {
        self.policy = policy
        self.bonds = bonds
    }

    /// Whether centrals may pair.
    var isAllowed: Bool { !policy.needsWindow || windowEnd != nil }

    /// The time of the next change; `nil` if there is none.
    var deadline: Duration? {
        ([windowEnd] + attempts.values.map(\.expiry)).compactMap(\.self).min()
    }

    // MARK: The window

    /// Opens the pairing window, or moves its end.
    mutating func allow(until end: Duration) -> [Action] {
        let wasAllowed = isAllowed
        windowEnd = end
        return wasAllowed ? [] : [.allowanceChanged, .report(.pairingWindowOpened)]
    }

    /// Closes the pairing window.
    mutating func disallow() -> [Action] {
        guard windowEnd != nil else { return [] }
        windowEnd = nil
        return [.allowanceChanged, .report(.pairingWindowClosed)] + unwelcome
    }

    /// Handles the deadlines until a time.
    mutating func passed(_ now: Duration) -> [Action] {
        var actions: [Action] = []
        for (id, attempt) in attempts where attempt.expiry.map({ $0 <= now }) ?? false {
            actions += end(id, .notBonded)
        }
        if let windowEnd, windowEnd <= now { actions += disallow() }
        return actions
    }

    /// The disconnections of all centrals that must not be connected.
    private var unwelcome: [Action] {
        centrals.values.filter(isUnwelcome).inOrder { $0.address < $1.address }.map { .disconnect($0) }
    }

    private func isUnwelcome(_ central: Central) -> Bool {
        policy.disconnectsUnbonded && !isAllowed && !central.isBonded && attempts[central.id] == nil
    }

    // MARK: Centrals

    /// Records that the peripheral is published, and returns what was not possible before.
    ///
    /// A central may have been connected before the start of the run.
    func published() -> [Action] { unwelcome }

    /// Records a central that has connected or changed.
    mutating func connected(_ central: Central) -> [Action] {
        let former = centrals.updateValue(central, forKey: central.id)
        var actions: [Action] = []
        if let former, former.isBonded || central.isBonded, former.address != central.address,
            let index = bonds.firstIndex(of: former.address)
        {
            bonds[index] = central.address
            actions.append(.bondsChanged(bonds))
        }
        if central.isBonded, let former, !former.isBonded {
            actions.append(.report(.paired(central)))
            // A bond that a central has made with another program is not this peripheral's to remove.
            let isOwn = attempts.removeValue(forKey: central.id) != nil
            if isOwn {
                bonds.removeAll { $0 == central.address }
                bonds.append(central.address)
                bonds.removeFirst(max(0, bonds.count - Self.maximumOrder))
                actions.append(.bondsChanged(bonds))
                if policy.maximumBonds != nil { actions.append(.trimBonds) }
            }
        }
        if isUnwelcome(central) { actions.append(.disconnect(central)) }
        return actions
    }

    mutating func disconnected(_ id: Central.ID) -> [Action] {
        let actions = end(id, .disconnected)
        centrals[id] = nil
        return actions
    }

    /// Records that the bond of a central no longer exists.
    mutating func bondRemoved(_ address: DeviceAddress) -> [Action] {
        guard bonds.contains(address) else { return [] }
        bonds.removeAll { $0 == address }
        return [.bondsChanged(bonds)]
    }

    /// Records that the peripheral is off the air, and all connections have ended.
    mutating func suspended() -> [Action] {
        defer { centrals = [:] }
        return attempts.keys.inOrder { $0.address < $1.address }.flatMap { end($0, .disconnected) }
    }

    // MARK: Attempts

    /// Records that a question was refused before an attempt began.
    ///
    /// The stack asks once in each attempt, so an earlier attempt of the central has ended.
    mutating func refused(_ central: Central, _ failure: PairingFailure) -> [Action] {
        attempts[central.id] = nil
        return [.report(.pairingFailed(central, failure))]
            + (isUnwelcome(central) ? [.disconnect(central)] : [])
    }

    /// Records a question about a central.
    mutating func asked(about central: Central) {
        attempts[central.id, default: Attempt(central: central)].questions += 1
        attempts[central.id]?.expiry = nil
    }

    /// Records the answer to a question: a refusal with its reason, or consent.
    mutating func answered(_ central: Central, _ failure: PairingFailure?, at now: Duration) -> [Action] {
        // The central may have bonded or left while the question waited.
        guard var attempt = attempts[central.id] else { return [] }
        if let failure { return end(central.id, failure) }
        attempt.questions -= 1
        if attempt.questions == 0 { attempt.expiry = now + Self.attemptLimit }
        attempts[central.id] = attempt
        return []
    }

    private mutating func end(_ id: Central.ID, _ failure: PairingFailure) -> [Action] {
        guard let attempt = attempts.removeValue(forKey: id) else { return [] }
        let central = centrals[id] ?? attempt.central
        // The stack does not report whether a bonded central has paired again.
        let isUncertain = central.isBonded && [.disconnected, .notBonded].contains(failure)
        let report = isUncertain ? [] : [Action.report(.pairingFailed(central, failure))]
        let isStaying = failure != .disconnected && centrals[id] != nil
        return report + (isStaying && isUnwelcome(central) ? [.disconnect(central)] : [])
    }

    // MARK: The maximum

    /// Returns whether a central can bond, besides the bonded centrals with these addresses.
    ///
    /// Other centrals that are pairing count as well, because each of them may bond.
    func hasRoom(for central: Central, besides bonded: [DeviceAddress]) -> Bool {
        guard let maximum = policy.maximumBonds else { return true }
        let others = attempts.values.count { $0.central != central && !$0.central.isBonded }
        let isFull = bonded.count + others >= maximum
        return !isFull || policy.replacesOldest && bonds.contains { bonded.contains($0) }
    }

    /// Returns the addresses of the centrals whose bonds exceed the maximum; the oldest is the first.
    func excess(of bonded: [DeviceAddress]) -> [DeviceAddress] {
        guard let maximum = policy.maximumBonds, bonded.count > maximum, policy.replacesOldest else {
            return []
        }
        // The newest bond stays.
        return Array(bonds.dropLast().filter(bonded.contains).prefix(bonded.count - maximum))
    }
}
