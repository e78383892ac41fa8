internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting
internal import PeripheralVirtualServer

extension ConformanceSuite {
    static let subscribing: [Scenario] = [
        subscribersAreKnown([517]), subscribersAreKnown([517, 23]), subscribersAreKnown([517, 23, 65, 247]),
        kindsAreKnown, subscriptionIsTold, endAfterChangeIsTold,
        leavingEndsSubscription,
        unsubscriptionAmongOthersIsTold,
        othersLeaving, victimUnsubscribes,
        hastyUnsubscription(bonded: false), hastyUnsubscription(bonded: true), hastyLeaving,
        endIsReportedAfterHaste,
    ]

    /// Creates a run with a characteristic to which several centrals subscribe one after another.
    static func subscribersRun(
        mtus: [Int],
        _ properties: CharacteristicProperties = .notify,
        bonded: Bool = false,
        _ body:
            @escaping @Sendable (
                [any TestCentral], PeripheralSession, Characteristic<[UInt8]>
            ) async throws -> Void
    ) -> ScenarioRun {
        let value = Characteristic<[UInt8]>(ScenarioUUID.value, properties.union(.read)) { Read { [] } }
        let peripheral = Peripheral("Subscribers", pairing: bonded ? .justWorks : .none) {
            GATTService(ScenarioUUID.service) { value }
        }
        return ScenarioRun(peripheral, mtu: nil) { central, session in
            try await withCentrals(central, mtus: mtus) { centrals in
                for central in centrals {
                    if bonded { try await central.pair(.justWorks) }
                    try await central.subscribe(to: value)
                    // When this read is answered, the program knows the subscription.
                    _ = try await central.read(value)
                }
                try await body(centrals, session, value)
            }
        }
    }

    static func subscribersAreKnown(_ mtus: [Int]) -> Scenario {
        Scenario(
            "the program knows which centrals have subscribed, with an MTU of \(mtus.map(\.description).joined(separator: ", "))"
        ) {
            subscribersRun(mtus: mtus) { centrals, session, value in
                let subscribers = try session.subscribers(of: value)
                try expect("MTUs", subscribers.map { $0.central?.mtu }, is: mtus)
                try expect("centrals", Set(subscribers.map(\.central)).count, is: mtus.count)
                try expect("types", Set(subscribers.map(\.characteristic)), is: [value.uuid])
                try expect("kinds", Set(subscribers.map(\.kind)), is: [.notification])
                try expect("all subscriptions", session.subscriptions, is: subscribers)
                try expect("connected centrals", session.centrals, is: subscribers.compactMap(\.central))
            }
        }
    }

    static let kindsAreKnown = Scenario(
        "the program knows how a central has subscribed, where that is no question"
    ) {
        let notified = Characteristic<[UInt8]>(ScenarioUUID.value, [.read, .notify]) { Read { [] } }
        let indicated = Characteristic<[UInt8]>(ScenarioUUID.otherValue, [.read, .indicate]) { Read { [] } }
        let silent = Characteristic<[UInt8]>(ScenarioUUID.thirdValue, [.read, .notify]) { Read { [] } }
        let peripheral = Peripheral("Kinds") {
            GATTService(ScenarioUUID.service) {
                notified; indicated; silent
            }
        }
        return ScenarioRun(peripheral) { central, session in
            for value in [indicated, notified] {
                try await central.subscribe(to: value)
                _ = try await central.read(value)
            }
            let subscriptions = session.subscriptions
            try expect("types", subscriptions.map(\.characteristic), is: [indicated.uuid, notified.uuid])
            try expect("kinds", subscriptions.map(\.kind), is: [.indication, .notification])
            try expect("other subscribers", try session.subscribers(of: silent), is: [])
        }
    }

    static let subscriptionIsTold = Scenario(
        "a central's connection, subscriptions and disconnection are reported in this order"
    ) {
        let value = Characteristic<[UInt8]>(ScenarioUUID.value, [.read, .notify]) { Read { [] } }
        let peripheral = Peripheral("Events") { GATTService(ScenarioUUID.service) { value } }
        return ScenarioRun(peripheral, mtu: nil) { central, session in
            let events = session.events
            try expect("subscriptions before", session.subscriptions, is: [])
            try await central.connect()
            try await central.subscribe(to: value)
            _ = try await central.read(value)
            try await expectKinds(["connected", "subscribed"], of: events)
            try await central.unsubscribe(from: value)
            try await expectKinds(["unsubscribed"], of: events)
            try expect("subscriptions afterwards", session.subscriptions, is: [])
            try await central.disconnect()
            try await expectKinds(["disconnected"], of: events)
            try expect("centrals afterwards", session.centrals, is: [])
        }
    }

    /// bluetoothd before 5.76 can count a central twice.
    ///
    /// This happens if the central changes its subscription, or if its first subscription ends at once.
    static let endAfterChangeIsTold = Scenario(
        "the end of a subscription is reported also when it changed before, and an indication does not wait for it"
    ) {
        let value = Characteristic<[UInt8]>(ScenarioUUID.value, [.read, .notify, .indicate]) { Read { [] } }
        let peripheral = Peripheral("Changes") { GATTService(ScenarioUUID.service) { value } }
        return ScenarioRun(peripheral) { central, session in
            let handle = try await central.locate(value).valueHandle
            let events = session.events
            for kind in [.notification, .indication, .notification, .indication] as [UpdateKind] {
                try await central.subscribe(handle, to: kind)
                _ = try await central.read(value)
            }
            try await session.indicate(value, [1])
            let update = try await central.nextUpdate(of: handle)
            try expect("update", update, is: ReceivedUpdate(kind: .indication, value: [1]))
            try await central.unsubscribe(from: value)
            try await next(of: events, "end") { _ in session.subscriptions.isEmpty }
            try await session.indicate(value, [2])
        }
    }

    static let leavingEndsSubscription = Scenario(
        "the end of a subscription is reported before the disconnection that causes it"
    ) {
        subscribersRun(mtus: [517]) { centrals, session, value in
            let events = session.events
            try await centrals[0].disconnect()
            try await expectKinds(["unsubscribed", "disconnected"], of: events)
            try expect("subscriptions afterwards", session.subscriptions, is: [])
            try expect("the number of subscribers", session.subscribers(of: value).count, is: 0)
        }
    }

    static let unsubscriptionAmongOthersIsTold = Scenario(
        "the end of a subscription is reported while other centrals are subscribed"
    ) {
        subscribersRun(mtus: [517, 247, 65]) { centrals, session, value in
            let events = session.events
            let subscribers = try session.subscribers(of: value)
            try await centrals[1].unsubscribe(from: value)
            let event = try await next(of: events, "end of the subscription") { $0.kind == "unsubscribed" }
            try expect("subscription that has ended", event, is: .unsubscribed(subscribers[1]))
            try expect(
                "other subscribers",
                try session.subscribers(of: value),
                is: [subscribers[0], subscribers[2]]
            )
        }
    }

    /// bluetoothd closes its first socket when a central that is not bonded disconnects.
    static let othersLeaving = Scenario(
        "the first subscriber stays subscribed when another central disconnects"
    ) {
        let value = Characteristic<[UInt8]>(ScenarioUUID.value, [.read, .notify]) { Read { [] } }
        let other = Characteristic<[UInt8]>(ScenarioUUID.otherValue, [.read, .notify]) { Read { [] } }
        let peripheral = Peripheral("Leaving") {
            GATTService(ScenarioUUID.service) {
                value; other
            }
        }
        return ScenarioRun(peripheral, mtu: nil) { central, session in
            try await withCentrals(central, mtus: [517, 247, 65]) { centrals in
                for central in centrals {
                    try await central.subscribe(to: value)
                    _ = try await central.read(value)
                }
                try await centrals[0].subscribe(to: other)
                _ = try await centrals[0].read(other)
                let subscribers = try session.subscribers(of: value)
                let events = session.events
                try await centrals[2].disconnect()
                try await next(of: events, "leaving") { $0.kind == "disconnected" }
                try await session.notify(value, [1])
                for central in centrals.prefix(2) {
                    try expect("update", try await central.nextUpdate(of: value), is: [1])
                }
                // The stack reports this event after all effects of the disconnection.
                try await centrals[0].unsubscribe(from: other)
                try await next(of: events, "end of the subscription") { event in
                    guard case .unsubscribed(let subscription) = event else { return false }
                    return subscription.characteristic == other.uuid
                }
                try expect(
                    "subscribers",
                    try session.subscribers(of: value),
                    is: Array(subscribers.prefix(2))
                )
                try await session.notify(value, [2])
                for central in centrals.prefix(2) {
                    try expect("next update", try await central.nextUpdate(of: value), is: [2])
                }
            }
        }
    }

    /// If bluetoothd has closed the socket of a central by mistake, the bus reaches the central from then on.
    static let victimUnsubscribes = Scenario(
        "after another central has disconnected, the first subscriber unsubscribes, and the end of its "
            + "subscription is reported"
    ) {
        subscribersRun(mtus: [517, 247, 65]) { centrals, session, value in
            let subscribers = try session.subscribers(of: value)
            let events = session.events
            try await centrals[2].disconnect()
            try await next(of: events, "leaving") { $0.kind == "disconnected" }
            // The stack reports the next event after all effects of the disconnection.
            try await session.notify(value, [1])
            for central in centrals.prefix(2) {
                try expect("update", try await central.nextUpdate(of: value), is: [1])
            }
            try await centrals[0].unsubscribe(from: value)
            try await next(of: events, "end of the subscription") { event in
                guard case .unsubscribed(let subscription) = event else { return false }
                return subscription.central == subscribers[0].central
            }
            try expect("subscribers afterwards", try session.subscribers(of: value), is: [subscribers[1]])
        }
    }

    /// bluetoothd may not have counted a subscription that ends.
    ///
    /// In that case, bluetoothd decrements the count of another subscription.
    static func hastyUnsubscription(bonded: Bool) -> Scenario {
        let who = bonded ? "a bonded central that has returned" : "a central"
        return Scenario(
            "\(who) stays subscribed when another central subscribes and immediately unsubscribes"
        ) {
            subscribersRun(mtus: [517], bonded: bonded) { centrals, session, value in
                let central = centrals[0]
                let subscriber = session.centrals.first?.id
                let events = session.events
                if bonded {
                    try await central.disconnect()
                    try await next(of: events, "leaving") { $0.kind == "disconnected" }
                    try await central.connect()
                    try await next(of: events, "resumption") { $0.kind == "subscribed" }
                }
                try await withCentrals(try await central.makeAnother(), mtus: [247]) { others in
                    for round: UInt8 in 1...8 {
                        try await others[0].subscribe(to: value)
                        try await others[0].unsubscribe(from: value)
                        _ = try await others[0].read(value)
                        try await session.notify(value, [round])
                        try expect("update", try await central.nextUpdate(of: value), is: [round])
                        try expect(
                            "subscriber",
                            try session.subscribers(of: value).first?.central?.id,
                            is: subscriber
                        )
                    }
                    try await central.unsubscribe(from: value)
                    try await next(of: events, "end of the subscription") { event in
                        guard case .unsubscribed(let subscription) = event else { return false }
                        return subscription.central?.id == subscriber
                    }
                }
            }
        }
    }

    /// bluetoothd counts the end of such a subscription, but not its start.
    static let hastyLeaving = Scenario(
        "a central stays subscribed when another central subscribes and immediately disconnects, and a "
            + "third central unsubscribes"
    ) {
        subscribersRun(mtus: [517, 247]) { centrals, session, value in
            let events = session.events
            let hasty = try await centrals[0].makeAnother()
            try await hasty.connect()
            try await hasty.subscribe(to: value)
            try await hasty.disconnect()
            try await next(of: events, "leaving") { $0.kind == "disconnected" }
            try await centrals[1].unsubscribe(from: value)
            _ = try await centrals[1].read(value)
            for number: UInt8 in 1...2 {
                try await session.notify(value, [number])
                try expect("update", try await centrals[0].nextUpdate(of: value), is: [number])
            }
        }
    }

    /// bluetoothd counts such a subscription forever.
    static let endIsReportedAfterHaste = Scenario(
        "after another central has subscribed, immediately unsubscribed, and disconnected, the end of a "
            + "subscription is reported"
    ) {
        subscribersRun(mtus: [517]) { centrals, session, value in
            let events = session.events
            try await centrals[0].unsubscribe(from: value)
            try await next(of: events, "end of the subscription") { $0.kind == "unsubscribed" }
            let hasty = try await centrals[0].makeAnother()
            try await hasty.connect()
            try await hasty.subscribe(to: value)
            try await hasty.unsubscribe(from: value)
            try await hasty.disconnect()
            try await next(of: events, "leaving") { $0.kind == "disconnected" }
            for _ in 1...2 {
                try await centrals[0].subscribe(to: value)
                try await next(of: events, "subscription") { $0.kind == "subscribed" }
                // When this read is answered, bluetoothd has counted the subscription.
                _ = try await centrals[0].read(value)
                try await centrals[0].unsubscribe(from: value)
                try await next(of: events, "end of the subscription") { $0.kind == "unsubscribed" }
            }
        }
    }

    static func expectKinds(
        _ kinds: [String],
        of events: some AsyncSequence<SessionEvent, Never> & Sendable
    ) async throws {
        for kind in kinds {
            let event = try await next(of: events, kind) { $0.kind != nil }
            try expect("event", event.kind, is: kind)
        }
    }
}
