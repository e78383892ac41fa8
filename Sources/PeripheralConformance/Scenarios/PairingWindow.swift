internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting
internal import PeripheralVirtualServer
private import Synchronization

/// When centrals may pair, how many may bond, and what the program learns about it.
extension ConformanceSuite {
    static let pairingWindow: [Scenario] = [
        centralsPairInTheWindow, windowClosesByItself, strangerIsDisconnected, formerStrangerIsDisconnected,
        failedAttemptIsOver, attemptsAreReported,
        fullPeripheralRefuses, oldestBondIsReplaced, orderOfBondsIsPreserved, removedBondIsReported,
    ]

    static let centralsPairInTheWindow = Scenario(
        "centrals pair only inside the pairing window, and bonded centrals are served outside it"
    ) {
        let secret = attribute(securedBy: .encrypted)
        return ScenarioRun(peripheral(.justWorks.onlyWhenAllowed(), secret)) { central, session in
            let events = session.events
            try expect("pairing at the start", session.isPairingAllowed, is: false)
            try await expectFailure(of: central, pairingAs: .justWorks)
            try await session.allowPairing(for: .seconds(60))
            try expect("pairing in the window", session.isPairingAllowed, is: true)
            try await central.pair(.justWorks)
            try await next(of: events, "bond") { $0.isPaired }
            try expect("value", try await central.read(secret), is: 7)
            try await session.disallowPairing()
            try await next(of: events, "end of the window") { $0 == .pairingWindowClosed }
            // The central returns with its keys, and a central without keys stays without.
            try await central.disconnect()
            try await central.connect()
            try expect("value outside the window", try await central.read(secret), is: 7)
            try await forgetTheOnlyBond(in: session)
            try await central.disconnect()
            try await central.connect()
            try await expectFailure(of: central, pairingAs: .justWorks)
            try await session.allowPairing(for: .seconds(60))
            try await central.pair(.justWorks)
            try expect("value in the second window", try await central.read(secret), is: 7)
        }
    }

    static let windowClosesByItself = Scenario("the pairing window closes when its time is over") {
        let secret = attribute(securedBy: .encrypted)
        return ScenarioRun(timed: peripheral(.justWorks.onlyWhenAllowed(), secret)) {
            central,
            session,
            clock in
            let events = session.events
            try await session.allowPairing(for: .seconds(1))
            try await next(of: events, "window") { $0 == .pairingWindowOpened }
            try await clock?.advance(until: "end of the window") { !session.isPairingAllowed }
            try await next(of: events, "end of the window") { $0 == .pairingWindowClosed }
            // The session does not wait for the stack when the window closes by itself. A later call waits.
            try await session.allowPairing(for: .seconds(60))
            try await session.disallowPairing()
            try await expectFailure(of: central, pairingAs: .justWorks)
        }
    }

    static let strangerIsDisconnected = Scenario(
        "outside the window, a central without a bond is disconnected, and a bonded central stays"
    ) {
        let secret = attribute(securedBy: .encrypted)
        let pairing = Pairing.justWorks.onlyWhenAllowed(disconnectingUnbonded: true)
        return ScenarioRun(peripheral(pairing, secret), mtu: nil) { central, session in
            let stranger = try await central.makeAnother()
            let events = session.events
            try? await stranger.connect()
            try await next(of: events, "disconnection of the stranger") { $0.kind == "disconnected" }
            try? await stranger.disconnect()
            try await session.allowPairing(for: .seconds(60))
            try await central.changeAddress()
            try await central.connect()
            try await central.pair(.justWorks)
            try await next(of: events, "bond") { $0.isPaired }
            try await stranger.connect()
            try expect("value for the stranger in the window", try await stranger.read(open), is: 1)
            // A second sequence, because the events of the first include the connections.
            let later = session.events
            try await session.disallowPairing()
            let ended = try await next(of: later, "end of the stranger's connection") {
                $0.kind == "disconnected"
            }
            if case .disconnected(let left, _) = ended { try expect("bond", left.isBonded, is: false) }
            try expect("value for the bonded central", try await central.read(secret), is: 7)
            try? await stranger.disconnect()
            try await central.disconnect()
            try await central.changeAddress()
            try await central.connect()
            try expect("value under another address", try await central.read(secret), is: 7)
            try await central.disconnect()
        }
    }

    static let formerStrangerIsDisconnected = Scenario(
        "a central that is connected before the run is disconnected, unless it has a bond"
    ) {
        let secret = attribute(securedBy: .encrypted)
        let stranger = Mutex<(any TestCentral)?>(nil)
        func make(_ pairing: Pairing) -> Peripheral {
            Peripheral("Guarded", restorationIdentifier: "guarded", pairing: pairing) {
                GATTService(ScenarioUUID.service) {
                    secret; open
                }
            }
        }
        let guarded = make(.justWorks.onlyWhenAllowed(disconnectingUnbonded: true))
        return ScenarioRun(make(.justWorks), mtu: nil) { central, session in
            let other = try await central.makeAnother()
            stranger.withLock { $0 = other }
            let events = session.events
            try await central.connect()
            try await central.pair(.justWorks)
            try await next(of: events, "bond") { $0.isPaired }
            try await other.connect()
            try expect("value for the stranger", try await other.read(open), is: 1)
        }.restarted(as: guarded) { central, session in
            let events = session.events
            if session.centrals.count > 1 {
                try await next(of: events, "end of the stranger's connection") { $0.kind == "disconnected" }
            }
            try expect("bonds of the connected centrals", session.centrals.map(\.isBonded), is: [true])
            try expect("value for the bonded central", try await central.read(secret), is: 7)
            try? await stranger.withLock(\.self)?.disconnect()
            try await central.disconnect()
        }
    }

    static let failedAttemptIsOver = Scenario(
        "a central whose attempt has failed cannot try again outside the pairing window"
    ) {
        let secret = attribute(securedBy: .authenticated)
        let shown = Recorder<UInt32>()
        let pairing = Pairing.displayPasskey { passkey, _ in shown.record(passkey) }
        let guarded = peripheral(pairing.onlyWhenAllowed(disconnectingUnbonded: true), secret)
        return ScenarioRun(guarded, mtu: nil) { central, session in
            var user = PairingUser.entering { try? await (shown.next() + 1) % 1_000_000 }
            // The stack asks about a central that keeps no keys even if no central may bond.
            user.isBonding = false
            try await session.allowPairing(for: .seconds(60))
            try await central.connect()
            try await expectFailure(of: central, pairingAs: user)
            try await session.disallowPairing()
            user.enterPasskey = { try? await shown.next() }
            do {
                try await central.pair(user)
                throw ConformanceFailure(description: "second attempt: the central has paired.")
            } catch is TestCentralError {
                // The peripheral refuses, or ends the connection.
            }
            try? await central.disconnect()
        }
    }

    static let attemptsAreReported = Scenario(
        "the program learns of refused attempts to pair, with the reason"
    ) {
        let secret = attribute(securedBy: .encrypted)
        let mayPair = Recorder<Bool>()
        let pairing = Pairing.justWorks { _ in try await mayPair.next() }.onlyWhenAllowed()
        return ScenarioRun(peripheral(pairing, secret)) { central, session in
            let events = session.events
            // The stack asks about a central that keeps no keys even if no central may bond.
            var user = PairingUser.justWorks
            user.isBonding = false
            try await expectFailure(of: central, pairingAs: user)
            try await next(of: events, "attempt outside the window") { $0.isFailure(.notAllowed) }
            try await session.allowPairing(for: .seconds(60))
            mayPair.record(false)
            try await reconnect(central)
            try await expectFailure(of: central, pairingAs: .justWorks)
            try await next(of: events, "refused attempt") { $0.isFailure(.refused) }
            try await reconnect(central)
            mayPair.record(true)
            try await central.pair(.justWorks)
            try await next(of: events, "bond") { $0.isPaired }
        }
    }

    static let fullPeripheralRefuses = Scenario(
        "a peripheral with the maximum of bonds refuses another central"
    ) {
        let secret = attribute(securedBy: .encrypted)
        let pairing = Pairing.justWorks.limitingBonds(to: 1)
        return ScenarioRun(peripheral(pairing, secret), mtu: nil) { central, session in
            try await withCentrals(central, mtus: [517, 517]) { centrals in
                let events = session.events
                try await centrals[0].pair(.justWorks)
                try await next(of: events, "bond") { $0.isPaired }
                try await expectFailure(of: centrals[1], pairingAs: .justWorks)
                try await next(of: events, "refused attempt") { $0.isFailure(.tooManyBonds) }
                try expect("value", try await centrals[0].read(secret), is: 7)
                try await forgetTheOnlyBond(in: session)
                try await next(of: events, "removal") { $0.isRemoval }
                try await reconnect(centrals[1])
                try await centrals[1].pair(.justWorks)
                try expect("value for the other", try await centrals[1].read(secret), is: 7)
            }
        }
    }

    static let oldestBondIsReplaced = Scenario(
        "a new bond replaces the oldest one when the maximum is reached"
    ) {
        let secret = attribute(securedBy: .encrypted)
        let pairing = Pairing.justWorks.limitingBonds(to: 2, replacingOldest: true)
        return ScenarioRun(peripheral(pairing, secret), mtu: nil) { central, session in
            try await withCentrals(central, mtus: [517, 517, 517]) { centrals in
                var bonds: [Central.ID] = []
                for central in centrals {
                    let events = session.events
                    try await central.pair(.justWorks)
                    let event = try await next(of: events, "bond") { $0.isPaired }
                    if case .paired(let central) = event { bonds.append(central.id) }
                    if bonds.count == 3 {
                        let removal = try await next(of: events, "removal") { $0.isRemoval }
                        if case .bondRemoved(let oldest) = removal {
                            try expect("removed bond", oldest.id, is: bonds[0])
                        }
                    }
                }
                let left = Set(try await session.bondedCentrals().map(\.id))
                try expect("bonds", left, is: Set(bonds.dropFirst()))
                try expect("value for the newest", try await centrals[2].read(secret), is: 7)
            }
        }
    }

    static let orderOfBondsIsPreserved = Scenario("the next run of the program knows the oldest bond") {
        let secret = attribute(securedBy: .encrypted)
        let make = {
            Peripheral(
                "Bonds",
                restorationIdentifier: "bonds",
                pairing: .justWorks.limitingBonds(to: 1, replacingOldest: true)
            ) {
                GATTService(ScenarioUUID.service) { secret }
            }
        }
        let first = Recorder<DeviceAddress>()
        return ScenarioRun(make(), mtu: nil) { central, session in
            let events = session.events
            try await central.connect()
            try await central.pair(.justWorks)
            try await next(of: events, "bond") { $0.isPaired }
            for bond in try await session.bondedCentrals() { first.record(bond.address) }
            try await central.disconnect()
        }.restarted(as: make()) { central, session in
            let events = session.events
            let other = try await central.makeAnother()
            try await other.connect()
            try await other.pair(.justWorks)
            try await next(of: events, "bond") { $0.isPaired }
            let removal = try await next(of: events, "removal") { $0.isRemoval }
            if case .bondRemoved(let oldest) = removal {
                try expect("removed bond", oldest.address, is: try await first.next())
            }
            try expect("bonds", try await session.bondedCentrals().count, is: 1)
            try expect("value", try await other.read(secret), is: 7)
            try await other.disconnect()
        }
    }

    static let removedBondIsReported = Scenario("the removal of a bond is reported, connected or not") {
        let secret = attribute(securedBy: .encrypted)
        return ScenarioRun(peripheral(.justWorks, secret)) { central, session in
            for isConnected in [true, false] {
                let events = session.events
                try await central.pair(.justWorks)
                let paired = try await next(of: events, "bond") { $0.isPaired }
                if !isConnected {
                    try await central.disconnect()
                    try await next(of: events, "leaving") { $0.kind == "disconnected" }
                }
                try await forgetTheOnlyBond(in: session)
                let removal = try await next(of: events, "removal") { $0.isRemoval }
                if case .paired(let bonded) = paired, case .bondRemoved(let removed) = removal {
                    try expect("central without its bond", removed, is: bonded)
                    try expect("former bond", removed.isBonded, is: true)
                }
                try await central.disconnect()
                try await central.connect()
            }
        }
    }
}

extension SessionEvent {
    fileprivate var isPaired: Bool { if case .paired = self { true } else { false } }

    fileprivate var isRemoval: Bool { if case .bondRemoved = self { true } else { false } }

    fileprivate func isFailure(_ failure: PairingFailure) -> Bool {
        if case .pairingFailed(_, failure) = self { true } else { false }
    }
}
