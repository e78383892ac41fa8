internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting
internal import PeripheralVirtualServer

extension ConformanceSuite {
    static let pairing: [Scenario] =
        ways.map(pairs) + [
            noCentralMayPair, otherWaysAreRefused, wrongPasskeyIsRefused, personRefuses,
            legacyIsNotSecureConnections, bondlessCentralPairsEachTime, forgottenCentralPairsAgain,
            lostKeysAreNotReplaced, impostorIsRefused, impostorIsRefusedByTheProgram, bondIsReplaced,
            passkeyThatIsNotShown, refusalLeavesTheBond,
        ]

    // MARK: Ways to pair

    /// A way to pair, with the users of both sides.
    ///
    /// Each user receives the values that the other user sees.
    struct WayToPair: Sendable {
        var name: String
        /// The security of the link after pairing.
        var level: SecurityLevel
        var make: @Sendable () -> (Pairing, PairingUser)
    }

    private static let ways = [justWorks, centralEnters, peripheralEnters, bothCompare]

    private static let justWorks = WayToPair(name: "Just Works", level: .encrypted) {
        (.justWorks, .justWorks)
    }

    private static let centralEnters = WayToPair(
        name: "a passkey that the peripheral displays",
        level: .secureConnections
    ) {
        let shown = Recorder<UInt32>()
        return (
            .displayPasskey { passkey, _ in shown.record(passkey) }, .entering { try? await shown.next() }
        )
    }

    private static let peripheralEnters = WayToPair(
        name: "a passkey that the central displays",
        level: .secureConnections
    ) {
        let shown = Recorder<UInt32>()
        return (.enterPasskey { _ in try await shown.next() }, .reading { shown.record($0) })
    }

    private static let bothCompare = WayToPair(name: "a number on both", level: .secureConnections) {
        let shown = Recorder<UInt32>()
        return (
            .confirmNumber { number, _ in try await shown.next() == number },
            .confirming { number in
                shown.record(number)
                return true
            }
        )
    }

    /// The error for a central that has not paired with the security that an attribute requires.
    static func refusal(of level: SecurityLevel) -> ATTError {
        level == .encrypted ? .insufficientEncryption : .insufficientAuthentication
    }

    static func pairs(by way: WayToPair) -> Scenario {
        Scenario("a central pairs by \(way.name), is served, and comes back without pairing") {
            let (pairing, user) = way.make()
            let levels = SecurityLevel.allCases.filter { $0 > .open && $0 <= way.level }
            let uuids = [ScenarioUUID.value, ScenarioUUID.otherValue, ScenarioUUID.thirdValue]
            let secrets = zip(uuids, levels).map { uuid, level in
                Characteristic<UInt8>(uuid, [.read, .write, .notify], security: AttributeSecurity(level)) {
                    Read { 7 }
                    Write { _ in }
                }
            }
            let peripheral = Peripheral("Secret", pairing: pairing) {
                GATTService(ScenarioUUID.service) { secrets }
            }
            return ScenarioRun(peripheral) { central, session in
                for (secret, level) in zip(secrets, levels) {
                    let error = refusal(of: level)
                    try await expectRefusal(of: "read", by: error) { try await central.read(secret) }
                    try await expectRefusal(of: "write", by: error) { try await central.write(secret, 1) }
                    try await expectRefusal(of: "subscription", by: error) {
                        try await central.subscribe(to: secret)
                    }
                }
                try await central.pair(user)
                try await serves(central, session, secrets)
                try await central.disconnect()
                try await central.connect()
                try await serves(central, session, secrets)
            }
        }
    }

    private static func serves(
        _ central: any TestCentral,
        _ session: PeripheralSession,
        _ secrets: [Characteristic<UInt8>]
    ) async throws {
        for secret in secrets {
            try expect("value", try await central.read(secret), is: 7)
            try await central.write(secret, 1)
            try await central.subscribe(to: secret)
            // The stack responds to the central before it reports to the program, but keeps the order.
            _ = try await central.read(secret)
            try await session.notify(secret, 9)
            try expect("update", try await central.nextUpdate(of: secret), is: 9)
            try await central.unsubscribe(from: secret)
        }
    }

    // MARK: Refusals

    /// Returns a characteristic that a central may read only with this security.
    static func attribute(securedBy level: SecurityLevel) -> Characteristic<UInt8> {
        Characteristic<UInt8>(ScenarioUUID.value, .read, security: AttributeSecurity(level)) { Read { 7 } }
    }

    static let open = Characteristic<UInt8>(ScenarioUUID.otherValue, value: 1)

    static func peripheral(
        _ pairing: Pairing,
        _ secret: Characteristic<UInt8>
    ) -> Peripheral {
        Peripheral("Secret", pairing: pairing) {
            GATTService(ScenarioUUID.service) {
                secret; open
            }
        }
    }

    static func expectFailure(of central: any TestCentral, pairingAs user: PairingUser) async throws {
        do {
            try await central.pair(user)
        } catch let error as TestCentralError where error.code == .pairingFailed {
            return
        }
        throw ConformanceFailure(description: "pairing: expected a failure, but the central is paired.")
    }

    static let noCentralMayPair = Scenario("no central pairs with a peripheral that declares no way") {
        let peripheral = Peripheral("Closed") { GATTService(ScenarioUUID.service) { open } }
        return ScenarioRun(peripheral) { central, _ in
            for isBonding in [true, false] {
                var user = PairingUser.justWorks
                user.isBonding = isBonding
                try await expectFailure(of: central, pairingAs: user)
            }
            try expect("value", try await central.read(open), is: 1)
        }
    }

    static let otherWaysAreRefused = Scenario("Just Works is refused where a passkey is declared") {
        let secret = attribute(securedBy: .encrypted)
        return ScenarioRun(peripheral(.displayPasskey { _, _ in }, secret)) { central, _ in
            try await expectFailure(of: central, pairingAs: .justWorks)
            try await expectRefusal(of: "read", by: .insufficientEncryption) {
                try await central.read(secret)
            }
            try expect("value", try await central.read(open), is: 1)
        }
    }

    static let wrongPasskeyIsRefused = Scenario("a wrong passkey is refused, and the right one then taken") {
        let secret = attribute(securedBy: .authenticated)
        let shown = Recorder<UInt32>()
        let pairing = Pairing.displayPasskey { passkey, _ in shown.record(passkey) }
        return ScenarioRun(peripheral(pairing, secret)) { central, _ in
            let mistaken = PairingUser.entering { (try? await shown.next()).map { ($0 + 1) % 1_000_000 } }
            try await expectFailure(of: central, pairingAs: mistaken)
            try await expectRefusal(of: "read", by: .insufficientAuthentication) {
                try await central.read(secret)
            }
            try await central.pair(.entering { try? await shown.next() })
            try expect("value", try await central.read(secret), is: 7)
        }
    }

    static let personRefuses = Scenario("a central is refused whose number the person does not confirm") {
        let secret = attribute(securedBy: .secureConnections)
        return ScenarioRun(peripheral(.confirmNumber { _, _ in false }, secret)) { central, _ in
            try await expectFailure(of: central, pairingAs: .confirming())
            try await expectRefusal(of: "read", by: .insufficientAuthentication) {
                try await central.read(secret)
            }
            try expect("value", try await central.read(open), is: 1)
        }
    }

    static let legacyIsNotSecureConnections = Scenario(
        "LE legacy pairing is not enough where LE Secure Connections is demanded"
    ) {
        let secure = attribute(securedBy: .secureConnections)
        let authenticated = Characteristic<UInt8>(
            ScenarioUUID.thirdValue,
            .read,
            security: .authenticated
        ) { Read { 5 } }
        let shown = Recorder<UInt32>()
        let pairing = Pairing.displayPasskey { passkey, _ in shown.record(passkey) }
        let peripheral = Peripheral("Secret", pairing: pairing) {
            GATTService(ScenarioUUID.service) {
                secure; authenticated
            }
        }
        return ScenarioRun(peripheral) { central, _ in
            var user = PairingUser.entering { try? await shown.next() }
            user.secureConnections = false
            try await central.pair(user)
            try expect("authenticated value", try await central.read(authenticated), is: 5)
            try await expectRefusal(of: "read", by: .insufficientAuthentication) {
                try await central.read(secure)
            }
        }
    }

    // MARK: Bonds

    static let bondlessCentralPairsEachTime = Scenario("a central that keeps no keys pairs each time") {
        let secret = attribute(securedBy: .encrypted)
        return ScenarioRun(peripheral(.justWorks, secret)) { central, session in
            var user = PairingUser.justWorks
            user.isBonding = false
            for _ in 0..<2 {
                try await expectRefusal(of: "read", by: .insufficientEncryption) {
                    try await central.read(secret)
                }
                try await central.pair(user)
                try expect("value", try await central.read(secret), is: 7)
                try await central.disconnect()
                try await central.connect()
            }
            try expect("bonds", try await session.bondedCentrals().count, is: 0)
        }
    }

    static let forgottenCentralPairsAgain = Scenario(
        "a central that was forgotten is refused until it pairs again"
    ) {
        let secret = attribute(securedBy: .encrypted)
        return ScenarioRun(peripheral(.justWorks, secret)) { central, session in
            try await central.pair(.justWorks)
            try expect("value", try await central.read(secret), is: 7)
            try await forgetTheOnlyBond(in: session)
            try await central.disconnect()
            try await central.connect()
            try await expectRefusal(of: "read", by: .insufficientEncryption) {
                try await central.read(secret)
            }
            try await central.pair(.justWorks)
            try expect("value", try await central.read(secret), is: 7)
        }
    }

    static let lostKeysAreNotReplaced = Scenario(
        "a central that lost its keys is refused by Just Works until the peripheral forgets it"
    ) {
        let secret = attribute(securedBy: .encrypted)
        return ScenarioRun(peripheral(.justWorks, secret)) { central, session in
            try await central.pair(.justWorks)
            try await central.forgetBond()
            try await central.disconnect()
            try await central.connect()
            try await expectRefusal(of: "read", by: .insufficientEncryption) {
                try await central.read(secret)
            }
            try await expectFailure(of: central, pairingAs: .justWorks)
            try await forgetTheOnlyBond(in: session)
            try await central.disconnect()
            try await central.connect()
            try await central.pair(.justWorks)
            try expect("value", try await central.read(secret), is: 7)
        }
    }

    static let impostorIsRefused = Scenario(
        "an impostor with the address of a bonded central is refused by Just Works, and the bond stays"
    ) {
        let secret = attribute(securedBy: .encrypted)
        return ScenarioRun(peripheral(.justWorks, secret)) { central, session in
            try await refusesImpostor(of: central, session, secret)
        }
    }

    static let impostorIsRefusedByTheProgram = Scenario(
        "an impostor with the address of a bonded central is refused by the program, and the bond stays"
    ) {
        let secret = attribute(securedBy: .encrypted)
        let asked = Recorder<Central>()
        let pairing = Pairing.justWorks(if: { central in
            asked.record(central)
            return !central.isBonded
        })
        return ScenarioRun(peripheral(pairing, secret)) { central, session in
            try await refusesImpostor(of: central, session, secret)
            try expect("questions to the program", asked.count, is: 3)
            let bonded = try await session.bondedCentrals().map(\.id)
            try expect(
                "first central that the program is asked about",
                [try await asked.next().id],
                is: bonded
            )
        }
    }

    /// Bonds, tries to pair as an impostor, and reconnects with the keys of the bond.
    ///
    /// The impostor tries to pair with bonding and without bonding.
    private static func refusesImpostor(
        of central: any TestCentral,
        _ session: PeripheralSession,
        _ secret: Characteristic<UInt8>
    ) async throws {
        try await central.pair(.justWorks)
        try expect("value", try await central.read(secret), is: 7)
        for isBonding in [true, false] {
            try await central.forgetBond()
            try await central.disconnect()
            try await central.connect()
            var user = PairingUser.justWorks
            user.isBonding = isBonding
            try await expectFailure(of: central, pairingAs: user)
            try await expectRefusal(of: "read", by: .insufficientEncryption) {
                try await central.read(secret)
            }
            try await central.disconnect()
            try await central.recallBond()
            try await central.connect()
            try expect("value with the keys of the bond", try await central.read(secret), is: 7)
        }
        try expect("bonds", try await session.bondedCentrals().count, is: 1)
    }

    static let bondIsReplaced = Scenario(
        "a central that lost its keys pairs again by Just Works where the program agrees"
    ) {
        let secret = attribute(securedBy: .encrypted)
        let asked = Recorder<Central>()
        let pairing = Pairing.justWorks(if: { central in
            asked.record(central)
            return true
        })
        return ScenarioRun(peripheral(pairing, secret)) { central, session in
            try await central.pair(.justWorks)
            try await central.forgetBond()
            try await central.disconnect()
            try await central.connect()
            try await expectRefusal(of: "read", by: .insufficientEncryption) {
                try await central.read(secret)
            }
            try await central.pair(.justWorks)
            try expect("questions to the program", asked.count, is: 2)
            let bonded = try await session.bondedCentrals().map(\.id)
            try expect("central that the program is asked about", [try await asked.next().id], is: bonded)
            try expect("value", try await central.read(secret), is: 7)
            try await central.disconnect()
            try await central.connect()
            try expect("value with the new keys", try await central.read(secret), is: 7)
            try expect("bonds", try await session.bondedCentrals().count, is: 1)
        }
    }

    static let passkeyThatIsNotShown = Scenario(
        "a central cannot pair whose passkey the peripheral does not show"
    ) {
        let secret = attribute(securedBy: .encrypted)
        let pairing = Pairing.displayPasskey { _, _ in throw CancellationError() }
        return ScenarioRun(peripheral(pairing, secret)) { central, _ in
            try await expectEnd(of: central, pairingAs: entersNothing)
            try await central.connect()
            try await expectRefusal(of: "read", by: .insufficientEncryption) {
                try await central.read(secret)
            }
        }
    }

    static let refusalLeavesTheBond = Scenario("a refusal to pair again leaves the bond that there is") {
        let secret = attribute(securedBy: .authenticated)
        let shown = Recorder<UInt32>()
        let isRefusing = Flag()
        let pairing = Pairing.displayPasskey { passkey, _ in
            guard !isRefusing.isSet else { throw CancellationError() }
            shown.record(passkey)
        }
        return ScenarioRun(peripheral(pairing, secret)) { central, session in
            try await central.pair(.entering { try? await shown.next() })
            try await central.forgetBond()
            try await central.disconnect()
            try await central.connect()
            isRefusing.set(true)
            try await expectEnd(of: central, pairingAs: entersNothing)
            try expect("bonds", try await session.bondedCentrals().count, is: 1)
            isRefusing.set(false)
            try await central.connect()
            try await central.pair(.entering { try? await shown.next() })
            try expect("value", try await central.read(secret), is: 7)
            try await forgetTheOnlyBond(in: session)
        }
    }

    private static let entersNothing = PairingUser.entering { try? await Recorder<UInt32>().next() }

    /// Pairs a central, and fails the scenario unless the pairing fails or the connection ends.
    static func expectEnd(of central: any TestCentral, pairingAs user: PairingUser) async throws {
        do {
            try await central.pair(user)
        } catch let error as TestCentralError
            where [.pairingFailed, .disconnected, .notConnected].contains(error.code)
        {
            // A central may disconnect before it notices that its user is also asked.
            try? await central.disconnect()
            return
        }
        throw ConformanceFailure(description: "pairing: expected a failure, but the central is paired.")
    }

    static func forgetTheOnlyBond(in session: PeripheralSession) async throws {
        let bonded = try await session.bondedCentrals()
        try expect("bonds", bonded.count, is: 1)
        for central in bonded { try await session.forget(central) }
    }
}
