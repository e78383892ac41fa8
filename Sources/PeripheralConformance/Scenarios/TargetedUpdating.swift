internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting

extension ConformanceSuite {
    static let targeted: [Scenario] = [
        updatesOfOne([517]), updatesOfOne([517, 23]), updatesOfOne([517, 23, 65, 247]), emptyUpdateOfOne,
        emptyUpdateOfSeveral, strangersAreRefused, manyUpdatesOfOne(rounds: 50), returnedSubscriberIsReached,
        fallbackReachesOne,
    ]

    static func updatesOfOne(_ mtus: [Int]) -> Scenario {
        let centrals = mtus.count == 1 ? "one central" : "one of \(mtus.count) centrals"
        return Scenario(
            "an update for \(centrals) reaches only this central, and each central receives its updates "
                + "in the order of sending"
        ) {
            subscribersRun(mtus: mtus) { centrals, session, value in
                let subscribers = try session.subscribers(of: value).compactMap(\.central)
                try expect("subscribers", subscribers.count, is: centrals.count)
                try await session.notify(value, [0xFE])
                for (number, subscriber) in subscribers.enumerated().reversed() {
                    try await expectSuccess(of: "update for one central") {
                        try await session.notify(value, [UInt8(number)], to: subscriber)
                    }
                }
                try await session.notify(value, [0xFF])
                try await all(centrals) { number, central in
                    for expected in [0xFE, UInt8(number), 0xFF] {
                        try expect(
                            "update of \(number)",
                            try await central.nextUpdate(of: value),
                            is: [expected]
                        )
                    }
                }
            }
        }
    }

    /// bluetoothd may lose the ability to reach the central alone when another central disconnects.
    static let fallbackReachesOne = Scenario(
        "with a fallback, updates for one central reach it in their order, also after another central has left"
    ) {
        subscribersRun(mtus: [517, 247, 65]) { centrals, session, value in
            let subscribers = try session.subscribers(of: value).compactMap(\.central)
            try expect("subscribers", subscribers.count, is: centrals.count)
            let events = session.events
            for numbers in [1...20, 21...40] as [ClosedRange<UInt8>] {
                for number in numbers {
                    while try !session.update(value, [number], to: subscribers[0], fallback: .allSubscribers)
                    {
                        try await session.readyToUpdate(value, to: subscribers[0], fallback: .allSubscribers)
                    }
                }
                for number in numbers {
                    try expect("update", try await centrals[0].nextUpdate(of: value), is: [number])
                }
                guard numbers.contains(1) else { continue }
                // bluetoothd loses what it has not sent when it closes the socket of another central.
                try await session.waitUntilSent()
                try await centrals[2].disconnect()
                try await next(of: events, "leaving") { $0.kind == "disconnected" }
            }
        }
    }

    static let emptyUpdateOfOne = Scenario("an empty value is sent to the only subscriber") {
        subscribersRun(mtus: [517]) { centrals, session, value in
            let subscriber = try session.subscribers(of: value).compactMap(\.central)
            try expect("subscribers", subscriber.count, is: 1)
            for expected: [UInt8] in [[1], [], [2]] {
                try await session.notify(value, expected, to: subscriber[0])
                try expect("update", try await centrals[0].nextUpdate(of: value), is: expected)
            }
        }
    }

    static let emptyUpdateOfSeveral = Scenario(
        "an empty value is sent to several subscribers, and others after it"
    ) {
        subscribersRun(mtus: [517, 23]) { centrals, session, value in
            for expected: [UInt8] in [[1], [], [2], [], []] {
                try await session.notify(value, expected)
                try await all(centrals) { number, central in
                    try expect("update of \(number)", try await central.nextUpdate(of: value), is: expected)
                }
            }
        }
    }

    static let strangersAreRefused = Scenario("an update for a central that has not subscribed is refused") {
        let value = Characteristic<[UInt8]>(ScenarioUUID.value, [.read, .notify]) { Read { [] } }
        let peripheral = Peripheral("Strangers") { GATTService(ScenarioUUID.service) { value } }
        return ScenarioRun(peripheral) { central, session in
            _ = try await central.read(value)
            try expect("centrals", session.centrals.count, is: 1)
            let stranger = session.centrals[0]
            try await expectError(of: "update", .notSubscribed) {
                try await session.notify(value, [1], to: stranger)
            }
            try await central.subscribe(to: value)
            _ = try await central.read(value)
            try await session.notify(value, [2], to: stranger)
            try expect("update", try await central.nextUpdate(of: value), is: [2])
        }
    }

    /// The central whose socket bluetoothd has closed by mistake subscribes again.
    static let returnedSubscriberIsReached = Scenario(
        "a central that has subscribed again receives an update that is sent only to this central"
    ) {
        subscribersRun(mtus: [517, 247, 65]) { centrals, session, value in
            let events = session.events
            try await centrals[2].disconnect()
            try await next(of: events, "leaving") { $0.kind == "disconnected" }
            try await centrals[0].unsubscribe(from: value)
            _ = try await centrals[0].read(value)
            try await centrals[0].subscribe(to: value)
            _ = try await centrals[0].read(value)
            let subscribers = session.centrals
            try expect("centrals", subscribers.map(\.mtu), is: [517, 247])
            for (number, subscriber) in subscribers.enumerated() {
                try await expectSuccess(of: "update for one central") {
                    try await session.notify(value, [UInt8(number)], to: subscriber)
                }
            }
            try await session.notify(value, [0xFF])
            try await all(Array(centrals.prefix(2))) { number, central in
                for expected in [UInt8(number), 0xFF] {
                    try expect("update of \(number)", try await central.nextUpdate(of: value), is: [expected])
                }
            }
        }
    }

    static func manyUpdatesOfOne(rounds: Int) -> Scenario {
        Scenario(
            "each of four centrals receives the \(rounds) updates for this central, and no other updates"
        ) {
            subscribersRun(mtus: [517, 247, 65, 23]) { centrals, session, value in
                let subscribers = try session.subscribers(of: value).compactMap(\.central)
                try expect("subscribers", subscribers.count, is: centrals.count)
                try await withThrowingTaskGroup { group in
                    group.addTask {
                        for round in 0..<rounds {
                            for (number, subscriber) in subscribers.enumerated() {
                                try await expectSuccess(of: "update for one central") {
                                    try await session.notify(value, part(round, of: number), to: subscriber)
                                }
                            }
                        }
                    }
                    group.addTask {
                        try await all(centrals) { number, central in
                            for round in 0..<rounds {
                                let update = try await central.nextUpdate(of: value)
                                try expect("update of \(number)", update, is: part(round, of: number))
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                // No central has received any other value.
                try await session.notify(value, [0xFF])
                try await all(centrals) { number, central in
                    try expect(
                        "last update of \(number)",
                        try await central.nextUpdate(of: value),
                        is: [0xFF]
                    )
                }
            }
        }
    }

    private static func part(_ round: Int, of number: Int) -> [UInt8] {
        [UInt8(number)] + UInt16(round).gattBytes
    }
}
