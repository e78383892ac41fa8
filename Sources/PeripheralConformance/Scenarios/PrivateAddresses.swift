internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting
internal import PeripheralVirtualServer

/// Centrals that use a resolvable private address and change it, like an iPhone.
extension ConformanceSuite {
    static let privateAddresses: [Scenario] = [
        bondedCentralStaysTheSame, subscriberBondsLater, publicSubscriberBondsLater,
        durableSubscriberBondsLater,
        missedUpdatesReachNewAddress,
        strangersLeaveNothingBehind,
    ]

    /// Creates a run with a characteristic and a central connected with a private address.
    private static func runUnderPrivateAddress(
        _ body:
            @escaping @Sendable (
                any TestCentral, PeripheralSession, Characteristic<UInt8>
            ) async throws -> Void
    ) -> ScenarioRun {
        let value = Characteristic<UInt8>(ScenarioUUID.value, [.read, .notify]) { Read { 0 } }
        let peripheral = Peripheral("Private", pairing: .justWorks) {
            GATTService(ScenarioUUID.service) { value }
        }
        return ScenarioRun(peripheral, mtu: nil) { central, session in
            try await central.changeAddress()
            try await central.connect()
            try await body(central, session, value)
        }
    }

    /// Waits until bluetoothd knows the bond.
    ///
    /// When the bond forms, the kernel gives the link the identity address of the central. bluetoothd learns
    /// this a moment later. Until then, it does not find the central, and refuses a subscription with
    /// "unlikely error" (`get_ccc_state` in src/gatt-database.c).
    static func untilBonded(
        _ events: some AsyncSequence<SessionEvent, Never> & Sendable
    ) async throws {
        try await next(of: events, "bond") { event in
            guard case .changed(let central) = event else { return false }
            return central.isBonded
        }
    }

    static let bondedCentralStaysTheSame = Scenario(
        "a bonded central that changes its address stays the same, and its subscription resumes"
    ) {
        runUnderPrivateAddress { central, session, value in
            let events = session.events
            try await central.pair(.justWorks)
            try await untilBonded(events)
            try await central.subscribe(to: value)
            _ = try await central.read(value)
            let bonded = try await session.bondedCentrals()
            try expect("bonds", bonded.count, is: 1)
            let known = session.centrals
            try expect("known by", known.map(\.address), is: bonded.map(\.address))
            for round: UInt8 in 1...3 {
                try await session.notify(value, round)
                try expect("update", try await central.nextUpdate(of: value), is: round)
                try await central.disconnect()
                try await next(of: events, "leaving") { $0.kind == "disconnected" }
                try await central.changeAddress()
                try await central.connect()
                try await next(of: events, "resumption") { $0.kind == "subscribed" }
                _ = try await central.read(value)
                try expect("centrals", session.centrals.map(\.id), is: known.map(\.id))
                try expect("known by", session.centrals.map(\.address), is: bonded.map(\.address))
                let subscribers = try session.subscribers(of: value)
                try expect("subscribers", subscribers.map(\.central), is: session.centrals)
                let bonds = try await session.bondedCentrals()
                try expect("bonds", bonds.map(\.address), is: bonded.map(\.address))
            }
            try await session.notify(value, 4)
            try expect("update", try await central.nextUpdate(of: value), is: 4)
        }
    }

    /// bluetoothd no longer finds a subscriber whose identity address is also random (`device_addr_type_cmp`
    /// in device.c).
    static let subscriberBondsLater = Scenario(
        "a central that bonds after it has subscribed is reached, or is known not to be until it subscribes again"
    ) {
        runUnderPrivateAddress { central, session, value in
            let events = session.events
            try await central.subscribe(to: value)
            try await next(of: events, "subscription") { $0.kind == "subscribed" }
            try await session.notify(value, 1)
            try expect("update", try await central.nextUpdate(of: value), is: 1)
            try await central.pair(.justWorks)
            try await untilBonded(events)
            if try session.subscribers(of: value).isEmpty {
                // While bluetoothd has the socket of the earlier subscription, it requests no further socket.
                _ = try await central.read(value)
                try await central.unsubscribe(from: value)
                try await central.subscribe(to: value)
                try await next(of: events, "new subscription") { $0.kind == "subscribed" }
            }
            for number: UInt8 in 2...4 {
                try await session.notify(value, number)
                try expect("update", try await central.nextUpdate(of: value), is: number)
            }
            try await central.disconnect()
            try await next(of: events, "leaving") { $0.kind == "disconnected" }
            try await central.changeAddress()
            try await central.connect()
            try await next(of: events, "resumption") { $0.kind == "subscribed" }
            _ = try await central.read(value)
            try await session.notify(value, 5)
            try expect("update", try await central.nextUpdate(of: value), is: 5)
        }
    }

    /// Most phones have a public identity address and connect with private addresses.
    ///
    /// bluetoothd keeps the subscription only for the connection, and sends no updates for it through a
    /// socket.
    static let publicSubscriberBondsLater = Scenario(
        "a central that bonds with a public address after it has subscribed gets updates, and again when it has subscribed again"
    ) {
        runUnderPrivateAddress { central, session, value in
            let events = session.events
            var user = PairingUser.justWorks
            user.identityAddress = DeviceAddress("00:1B:DC:00:00:07")
            try await central.subscribe(to: value)
            try await next(of: events, "subscription") { $0.kind == "subscribed" }
            try await central.pair(user)
            try await untilBonded(events)
            for number: UInt8 in 1...3 {
                try await session.notify(value, number)
                try expect("update", try await central.nextUpdate(of: value), is: number)
            }
            try await central.disconnect()
            try await next(of: events, "leaving") { $0.kind == "disconnected" }
            try await central.changeAddress()
            try await central.connect()
            try await central.subscribe(to: value)
            try await next(of: events, "new subscription") { $0.kind == "subscribed" }
            _ = try await central.read(value)
            for number: UInt8 in 4...6 {
                try await session.notify(value, number)
                try expect("update", try await central.nextUpdate(of: value), is: number)
            }
        }
    }

    static let durableSubscriberBondsLater = Scenario(
        "a central that bonds after it has subscribed misses no durable value"
    ) {
        let audit = Characteristic<UInt8>(ScenarioUUID.thirdValue, [.read, .notify], updates: .durable) {
            Read { 0 }
        }
        let peripheral = Peripheral(
            "Private",
            restorationIdentifier: "late bond scenario",
            pairing: .justWorks
        ) {
            GATTService(ScenarioUUID.service) { audit }
        }
        /// An update that was in flight may arrive again.
        @Sendable func expectUpdate(_ number: UInt8, _ central: any TestCentral) async throws {
            var update = try await central.nextUpdate(of: audit)
            while update < number { update = try await central.nextUpdate(of: audit) }
            try expect("update", update, is: number)
        }
        return ScenarioRun(peripheral, mtu: nil) { central, session in
            let events = session.events
            try await central.changeAddress()
            try await central.connect()
            try await central.subscribe(to: audit)
            try await next(of: events, "subscription") { $0.kind == "subscribed" }
            try await session.notify(audit, 1)
            try await expectUpdate(1, central)
            try await central.pair(.justWorks)
            try await untilBonded(events)
            try await session.notify(audit, 2)
            try await session.notify(audit, 3)
            if try session.subscribers(of: audit).isEmpty {
                _ = try await central.read(audit)
                try await central.unsubscribe(from: audit)
                try await central.subscribe(to: audit)
            }
            for number: UInt8 in 2...3 { try await expectUpdate(number, central) }
            try await central.disconnect()
            try await next(of: events, "leaving") { $0.kind == "disconnected" }
            try await session.notify(audit, 4)
            try await central.changeAddress()
        }.restarted(as: peripheral, afterKill: true) { central, session in
            try await central.connect()
            try await central.subscribe(to: audit)
            try await expectUpdate(4, central)
        }
    }

    static let missedUpdatesReachNewAddress = Scenario(
        "a bonded central gets what it has missed under another address, also after a kill"
    ) {
        let audit = Characteristic<UInt8>(ScenarioUUID.thirdValue, .notify, updates: .durable)
        let peripheral = Peripheral(
            "Private",
            restorationIdentifier: "private address scenario",
            pairing: .justWorks
        ) {
            GATTService(ScenarioUUID.service) { audit }
        }
        /// An update that was in flight when the central disconnected may arrive again.
        @Sendable func expectUpdate(_ number: UInt8, _ central: any TestCentral) async throws {
            var update = try await central.nextUpdate(of: audit)
            if update == number - 1 { update = try await central.nextUpdate(of: audit) }
            try expect("update that was missed", update, is: number)
        }
        return ScenarioRun(peripheral, mtu: nil) { central, session in
            try await central.changeAddress()
            try await central.connect()
            let events = session.events
            try await central.pair(.justWorks)
            try await untilBonded(events)
            try await central.subscribe(to: audit)
            try await next(of: events, "subscription") { $0.kind == "subscribed" }
            try await session.notify(audit, 1)
            try expect("update", try await central.nextUpdate(of: audit), is: 1)
            for number: UInt8 in 2...3 {
                try await central.disconnect()
                try await next(of: events, "leaving") { $0.kind == "disconnected" }
                try await session.notify(audit, number)
                try await central.changeAddress()
                guard number == 2 else { return }
                try await central.connect()
                try await expectUpdate(number, central)
            }
        }.restarted(as: peripheral, afterKill: true) { central, session in
            let restored = session.restored?.subscribers ?? []
            try expect("subscribers", restored.map(\.status), is: [.expected])
            try await central.connect()
            try await central.subscribe(to: audit)
            try await expectUpdate(3, central)
        }
    }

    static let strangersLeaveNothingBehind = Scenario(
        "a central that is not bonded and comes under one address after the other is a stranger each time"
    ) {
        let value = Characteristic<UInt8>(ScenarioUUID.value, [.read, .notify]) { Read { 0 } }
        let peripheral = Peripheral("Private") { GATTService(ScenarioUUID.service) { value } }
        return ScenarioRun(peripheral, mtu: nil) { central, session in
            let events = session.events
            var addresses: Set<DeviceAddress> = []
            for round: UInt8 in 1...12 {
                try await central.changeAddress()
                try await central.connect()
                _ = try await central.read(value)
                try expect("subscribers before", try session.subscribers(of: value), is: [])
                try await central.subscribe(to: value)
                _ = try await central.read(value)
                try await session.notify(value, round)
                try expect("update", try await central.nextUpdate(of: value), is: round)
                addresses.formUnion(session.centrals.map(\.address))
                try expect("addresses", addresses.count, is: Int(round))
                try await central.disconnect()
                try await next(of: events, "leaving") { $0.kind == "disconnected" }
                try expect("centrals", session.centrals, is: [])
                try expect("subscriptions", session.subscriptions, is: [])
                try expect("queues", session.updateStatistics.count, is: 0)
            }
        }
    }
}
