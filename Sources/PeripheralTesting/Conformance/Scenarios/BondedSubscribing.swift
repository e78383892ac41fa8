internal import PeripheralCore
internal import PeripheralKit

extension ConformanceSuite {
    static let bondedSubscribing: [Scenario] = [
        subscriptionResumes, subscriptionIsForgotten, forgottenSubscriberIsReached,
    ]

    /// A trial with a central that has bonded and subscribed, on an encrypted connection.
    private static func trial(
        _ body:
            @escaping @Sendable (
                any TestCentral, PeripheralSession, Characteristic<[UInt8]>
            ) async throws -> Void
    ) -> Trial {
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
        return Trial(peripheral) { central, session in
            try await central.pair(.justWorks)
            try await central.subscribe(to: value)
            _ = try await central.read(value)
            try await body(central, session, value)
        }
    }

    /// BlueZ tells nobody that a subscription resumes.
    static let subscriptionResumes = Scenario("the subscription of a bonded central resumes when it returns")
    {
        trial { central, session, value in
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
            try await next(of: events, "unsubscription") { $0.kind == "unsubscribed" }
            try expect("subscribers afterwards", try session.subscribers(of: value), is: [])
        }
    }

    static let subscriptionIsForgotten = Scenario(
        "the subscription of a central that is forgotten does not resume"
    ) {
        trial { central, session, value in
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

    /// BlueZ keeps the subscription, and does not tell that the central subscribes anew.
    static let forgottenSubscriberIsReached = Scenario(
        "a central that was forgotten while it was away subscribes anew"
    ) {
        trial { central, session, value in
            let events = session.events
            let known = session.centrals
            try expect("bonded", known.map(\.isBonded), is: [true])
            try await central.disconnect()
            try await next(of: events, "leaving") { $0.kind == "disconnected" }
            try await session.forget(known[0])
            try await central.forgetBond()
            try await central.connect()
            try await central.pair(.justWorks)
            try await central.subscribe(to: value)
            _ = try await central.read(value)
            try expect("subscribers", try session.subscribers(of: value).count, is: 1)
            try await session.notify(value, [1])
            try expect("update", try await central.nextUpdate(of: value), is: [1])
            try await central.unsubscribe(from: value)
            try await next(of: events, "unsubscription") { $0.kind == "unsubscribed" }
            try expect("subscribers afterwards", try session.subscribers(of: value), is: [])
        }
    }
}
