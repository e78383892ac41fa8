internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting

extension ConformanceSuite {
    static let bondedSubscribing: [Scenario] = [
        subscriptionResumes, subscriptionIsForgotten, forgottenSubscriberIsReached,
        forgottenSubscriberIsDropped, resumedSubscriptionEnds,
    ]

    /// Creates a run with a bonded and subscribed central on an encrypted connection.
    private static func scenarioRun(
        _ body:
            @escaping @Sendable (
                any TestCentral, PeripheralSession, Characteristic<[UInt8]>
            ) async throws -> Void
    ) -> ScenarioRun {
        let value = Characteristic<[UInt8]>(
            ScenarioUUID.value,
            [.read, .notify],
            security: AttributeSecurity(.encrypted)
        ) {
            Read { [] }
        }
        let peripheral = Peripheral("Bonded", pairing: .justWorks) {
            GATTService(ScenarioUUID.service) { value }
        }
        return ScenarioRun(peripheral) { central, session in
            try await central.pair(.justWorks)
            try await central.subscribe(to: value)
            _ = try await central.read(value)
            try await body(central, session, value)
        }
    }

    /// Creates a run with two subscribers; the first subscriber is bonded.
    private static func bondedFirstRun(
        _ body:
            @escaping @Sendable (
                [any TestCentral], PeripheralSession, Characteristic<[UInt8]>
            ) async throws -> Void
    ) -> ScenarioRun {
        let value = Characteristic<[UInt8]>(ScenarioUUID.value, [.read, .notify]) { Read { [] } }
        let peripheral = Peripheral("Bonded", pairing: .justWorks) {
            GATTService(ScenarioUUID.service) { value }
        }
        return ScenarioRun(peripheral, mtu: nil) { first, session in
            try await withCentrals(first, mtus: [517, 247]) { centrals in
                try await centrals[0].pair(.justWorks)
                for central in centrals {
                    try await central.subscribe(to: value)
                    _ = try await central.read(value)
                }
                try await body(centrals, session, value)
            }
        }
    }

    /// BlueZ does not report that a subscription resumes.
    static let subscriptionResumes = Scenario("the subscription of a bonded central resumes when it returns")
    {
        scenarioRun { central, session, value in
            let events = session.events
            try expect("bonded", session.centrals.map(\.isBonded), is: [true])
            try await session.notify(value, [1])
            try expect("update", try await central.nextUpdate(of: value), is: [1])
            try await central.disconnect()
            try await next(of: events, "leaving") { $0.kind == "disconnected" }
            try expect("subscriptions while it is away", session.subscriptions, is: [])
            try await session.notify(value, [2])
            try await central.connect()
            try await next(of: events, "resumption") { $0.kind == "subscribed" }
            _ = try await central.read(value)
            let subscribers = try session.subscribers(of: value)
            try expect("subscribers", subscribers.map(\.central), is: session.centrals)
            try await session.notify(value, [3])
            try expect("update after its return", try await central.nextUpdate(of: value), is: [3])
            for subscriber in subscribers.compactMap(\.central) {
                try await session.notify(value, [4], to: subscriber)
                try expect("update for it alone", try await central.nextUpdate(of: value), is: [4])
            }
            try await central.unsubscribe(from: value)
            try await next(of: events, "end of the subscription") { $0.kind == "unsubscribed" }
            try expect("subscribers afterwards", try session.subscribers(of: value), is: [])
        }
    }

    static let subscriptionIsForgotten = Scenario(
        "the subscription of a central that is forgotten does not resume"
    ) {
        scenarioRun { central, session, value in
            let events = session.events
            let known = session.centrals
            try expect("bonded", known.map(\.isBonded), is: [true])
            try await session.forget(known[0])
            try await next(of: events, "disconnection") { $0.kind == "disconnected" }
            try await central.disconnect()
            try await central.forgetBond()
            try await central.connect()
            try await central.pair(.justWorks)
            _ = try await central.read(value)
            try expect("subscribers", try session.subscribers(of: value), is: [])
            try await session.notify(value, [1])
            try await central.subscribe(to: value)
            _ = try await central.read(value)
            try await session.notify(value, [2])
            try expect("update", try await central.nextUpdate(of: value), is: [2])
        }
    }

    /// BlueZ keeps the subscription and does not report that the central subscribes again.
    static let forgottenSubscriberIsReached = Scenario(
        "a central that was forgotten while it was away subscribes again"
    ) {
        scenarioRun { central, session, value in
            let events = session.events
            let known = session.centrals
            try expect("bonded", known.map(\.isBonded), is: [true])
            try await central.disconnect()
            try await next(of: events, "leaving") { $0.kind == "disconnected" }
            try await session.forget(known[0])
            try await expectError(of: "to forget it again", .unknownCentral) {
                try await session.forget(known[0])
            }
            try await central.forgetBond()
            try await central.connect()
            try await central.pair(.justWorks)
            try await central.subscribe(to: value)
            _ = try await central.read(value)
            try expect("subscribers", try session.subscribers(of: value).count, is: 1)
            try await session.notify(value, [1])
            try expect("update", try await central.nextUpdate(of: value), is: [1])
            try await central.unsubscribe(from: value)
            try await next(of: events, "end of the subscription") { $0.kind == "unsubscribed" }
            try expect("subscribers afterwards", try session.subscribers(of: value), is: [])
        }
    }

    /// BlueZ drops the subscription of such a central with the next value on the bus.
    ///
    /// BlueZ also closes the socket of another central. All versions send an empty value through the bus.
    static let forgottenSubscriberIsDropped = Scenario(
        "a central that was forgotten while it was away gets nothing after an update has missed it"
    ) {
        bondedFirstRun { centrals, session, value in
            let events = session.events
            let known = session.centrals.filter(\.isBonded)
            try expect("bonded", known.count, is: 1)
            try await centrals[0].disconnect()
            try await next(of: events, "leaving") { $0.kind == "disconnected" }
            try await session.forget(known[0])
            try await centrals[0].forgetBond()
            try await session.notify(value, [])
            try expect("update that misses it", try await centrals[1].nextUpdate(of: value), is: [])

            try await centrals[0].connect()
            _ = try await centrals[0].read(value)
            try expect("subscribers", try session.subscribers(of: value).count, is: 1)
            try await session.notify(value, [1])
            try expect("update of the other", try await centrals[1].nextUpdate(of: value), is: [1])
            try await centrals[0].subscribe(to: value)
            _ = try await centrals[0].read(value)
            try expect("subscribers then", try session.subscribers(of: value).count, is: 2)
            try await session.notify(value, [2])
            for central in centrals {
                try expect("update of both", try await central.nextUpdate(of: value), is: [2])
            }
        }
    }

    /// BlueZ reaches a reconnected central through the bus, and reports only the end of the last
    /// subscription.
    static let resumedSubscriptionEnds = Scenario(
        "the end of a resumed subscription is reported while another central is subscribed"
    ) {
        bondedFirstRun { centrals, session, value in
            let events = session.events
            let other = try session.subscribers(of: value).suffix(1)
            try await centrals[0].disconnect()
            try await next(of: events, "leaving") { $0.kind == "disconnected" }
            try await centrals[0].connect()
            try await next(of: events, "resumption") { $0.kind == "subscribed" }
            try await centrals[0].unsubscribe(from: value)
            try await next(of: events, "end of the subscription") { $0.kind == "unsubscribed" }
            try expect("subscribers afterwards", try session.subscribers(of: value), is: Array(other))
        }
    }
}
