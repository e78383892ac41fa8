internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting
internal import PeripheralVirtualServer

extension ConformanceSuite {
    static let indicating: [Scenario] = [
        indicationIsConfirmed, indicationsOfSeveralCallers, indicationOfAll, indicationOfOne,
        indicationOfOneThatLeaves, indicationWithoutSubscribers, confirmationOfAnother,
        confirmationsOfTheQuick,
        indicationAfterUnsubscription, indicationOfThoseWhoAreGone, indicationOfAllWhileOneDisconnects([1]),
        indicationOfAllWhileOneDisconnects([]), indicationOfTheLastWhoLeaves, runEndsBeforeConfirmation,
        unsubscriberConfirmsLate, onlyUnsubscriberConfirmsLate, addressedUnsubscriberConfirmsLate,
        confirmationAfterTheRun,
    ]

    /// Waits for the next indication of a central.
    private static func expectIndication(
        _ value: [UInt8],
        of characteristic: Characteristic<[UInt8]>,
        by central: any TestCentral
    ) async throws {
        let update = try await central.nextUpdate(of: central.locate(characteristic).valueHandle)
        try expect("indication", update, is: ReceivedUpdate(kind: .indication, value: value))
    }

    static let indicationIsConfirmed = Scenario("an indication is over when the central has confirmed it") {
        subscribersRun(mtus: [517], .indicate) { centrals, session, value in
            let ended = Flag()
            try await centrals[0].setConfirmsIndications(false)
            for number: UInt8 in 1...3 {
                async let indication: Void = {
                    try await session.indicate(value, [number])
                    ended.set(true)
                }()
                try await expectIndication([number], of: value, by: centrals[0])
                // When this read is answered, all earlier events are known.
                _ = try await centrals[0].read(value)
                try expect("indication is over", ended.isSet, is: false)
                try await centrals[0].setConfirmsIndications(true)
                try await indication
                try await centrals[0].setConfirmsIndications(false)
                ended.set(false)
            }
        }
    }

    static let indicationsOfSeveralCallers = Scenario("indications of several callers at once all arrive") {
        subscribersRun(mtus: [517, 23], .indicate) { centrals, session, value in
            try await withThrowingTaskGroup { group in
                for number: UInt8 in 0..<10 {
                    group.addTask { try await session.indicate(value, [number]) }
                }
                try await group.waitForAll()
            }
            try await all(centrals) { number, central in
                var received: Set<[UInt8]> = []
                for _ in 0..<10 { received.insert(try await central.nextUpdate(of: value)) }
                try expect("indications of \(number)", received, is: Set((0..<10).map { [$0] }))
            }
        }
    }

    static let indicationOfAll = Scenario(
        "an indication for all is over when the last central has confirmed it"
    ) {
        subscribersRun(mtus: [517, 65, 23], .indicate) { centrals, session, value in
            let ended = Flag()
            try await centrals[1].setConfirmsIndications(false)
            async let indication: Void = {
                try await session.indicate(value, [1])
                ended.set(true)
            }()
            for central in centrals { try await expectIndication([1], of: value, by: central) }
            for central in centrals { _ = try await central.read(value) }
            try expect("indication is over", ended.isSet, is: false)
            try await centrals[1].setConfirmsIndications(true)
            try await indication
        }
    }

    static let indicationOfOne = Scenario(
        "an indication for one central reaches only this central, and the call waits only for the "
            + "confirmation by this central"
    ) {
        subscribersRun(mtus: [517, 23], .indicate) { centrals, session, value in
            let subscribers = try session.subscribers(of: value).compactMap(\.central)
            try expect("subscribers", subscribers.count, is: 2)
            try await centrals[1].setConfirmsIndications(false)
            async let held: Void = session.indicate(value, [1], to: subscribers[1])
            for number: UInt8 in 2...4 {
                try await expectSuccess(of: "indication for one central") {
                    try await session.indicate(value, [number], to: subscribers[0])
                }
                try await expectIndication([number], of: value, by: centrals[0])
            }
            try await expectIndication([1], of: value, by: centrals[1])
            try await centrals[1].setConfirmsIndications(true)
            try await held
        }
    }

    static let indicationOfOneThatLeaves = Scenario(
        "an indication fails when its central leaves before it has confirmed"
    ) {
        subscribersRun(mtus: [517], .indicate) { centrals, session, value in
            let subscribers = try session.subscribers(of: value).compactMap(\.central)
            try expect("subscribers", subscribers.count, is: 1)
            try await centrals[0].setConfirmsIndications(false)
            let indication = Task { try await session.indicate(value, [1], to: subscribers[0]) }
            try await expectIndication([1], of: value, by: centrals[0])
            try await centrals[0].disconnect()
            try await expectError(of: "indication", .disconnected) { try await indication.value }
            // A new connection has no unconfirmed indication.
            try await centrals[0].connect()
            try await centrals[0].subscribe(to: value)
            try await centrals[0].setConfirmsIndications(true)
            _ = try await centrals[0].read(value)
            try await session.indicate(value, [2])
            try await expectIndication([2], of: value, by: centrals[0])
        }
    }

    static let indicationWithoutSubscribers = Scenario(
        "an indication that no central has asked for is over at once"
    ) {
        let value = Characteristic<[UInt8]>(ScenarioUUID.value, [.read, .indicate]) { Read { [] } }
        let peripheral = Peripheral("Silence") { GATTService(ScenarioUUID.service) { value } }
        return ScenarioRun(peripheral) { central, session in
            try await session.indicate(value, [1])
            _ = try await central.read(value)
            let stranger = session.centrals
            try expect("centrals", stranger.count, is: 1)
            try await expectError(of: "indication", .notSubscribed) {
                try await session.indicate(value, [2], to: stranger[0])
            }
        }
    }

    /// If a characteristic offers only indications, `notify` sends indications.
    static let confirmationOfAnother = Scenario(
        "an indication does not take the confirmation of an update before it for its own"
    ) {
        subscribersRun(mtus: [517], .indicate) { centrals, session, value in
            let central = centrals[0]
            let ended = Flag()
            try await central.setConfirmsIndications(false)
            for number: UInt8 in 1...2 { try await session.notify(value, [number]) }
            try await expectIndication([1], of: value, by: central)
            async let indication: Void = {
                try await session.indicate(value, [3])
                ended.set(true)
            }()
            for number: UInt8 in 2...3 {
                // The delay ensures that the indication is in flight.
                for _ in 0..<3 { _ = try await central.read(value) }
                try await central.confirmIndication()
                try await expectIndication([number], of: value, by: central)
                _ = try await central.read(value)
                try expect("indication is over", ended.isSet, is: false)
            }
            try await central.setConfirmsIndications(true)
            try await indication
        }
    }

    static let confirmationsOfTheQuick = Scenario(
        "what one central has confirmed does not stand for what another has not"
    ) {
        subscribersRun(mtus: [517, 23], .indicate) { centrals, session, value in
            let ended = Flag()
            for central in centrals { try await central.setConfirmsIndications(false) }
            try await session.notify(value, [1])
            for central in centrals { try await expectIndication([1], of: value, by: central) }
            async let indication: Void = {
                try await session.indicate(value, [2])
                ended.set(true)
            }()
            for _ in 0..<3 { _ = try await centrals[0].read(value) }
            try await centrals[0].setConfirmsIndications(true)
            try await expectIndication([2], of: value, by: centrals[0])
            try await session.notify(value, [3])
            try await expectIndication([3], of: value, by: centrals[0])
            for central in centrals { _ = try await central.read(value) }
            try expect("indication is over", ended.isSet, is: false)
            try await centrals[1].setConfirmsIndications(true)
            try await indication
            for number: UInt8 in 2...3 { try await expectIndication([number], of: value, by: centrals[1]) }
        }
    }

    /// Creates a run in which one of three subscribers has unsubscribed.
    ///
    /// BlueZ before 5.76 does not report that one of several subscribers has unsubscribed.
    ///
    /// - Parameter body: Receives the other two centrals.
    /// - Returns: The run.
    static func unsubscribedRun(
        _ body:
            @escaping @Sendable (
                _ others: [any TestCentral], PeripheralSession, Characteristic<[UInt8]>, ManualClock?
            ) async throws -> Void
    ) -> ScenarioRun {
        let value = Characteristic<[UInt8]>(ScenarioUUID.value, [.read, .indicate]) { Read { [] } }
        let peripheral = Peripheral("Subscribers") { GATTService(ScenarioUUID.service) { value } }
        return ScenarioRun(timed: peripheral, mtu: nil) { central, session, clock in
            try await withCentrals(central, mtus: [517, 65, 23]) { centrals in
                for central in centrals {
                    try await central.subscribe(to: value)
                    _ = try await central.read(value)
                }
                try await centrals[1].unsubscribe(from: value)
                for central in centrals { _ = try await central.read(value) }
                try await body([centrals[0], centrals[2]], session, value, clock)
            }
        }
    }

    /// The first indication waits until its time limit if the end of the subscription is not reported.
    static let indicationAfterUnsubscription = Scenario(
        "indications go on when one of several centrals has unsubscribed"
    ) {
        unsubscribedRun { others, session, value, clock in
            let ended = Flag()
            let first = Task {
                try? await session.indicate(value, [1])
                ended.set(true)
            }
            for central in others { try await expectIndication([1], of: value, by: central) }
            try await clock?.advance(until: "the first indication is over") { ended.isSet }
            await first.value
            for number: UInt8 in 2...3 {
                try await others[1].setConfirmsIndications(false)
                let ended = Flag()
                let indication = Task {
                    try await session.indicate(value, [number])
                    ended.set(true)
                }
                for central in others {
                    try await expectIndication([number], of: value, by: central)
                    _ = try await central.read(value)
                }
                try expect("indication is over", ended.isSet, is: false)
                try await others[1].setConfirmsIndications(true)
                try await expectSuccess(of: "indication") { try await indication.value }
            }
        }
    }

    static let indicationOfThoseWhoAreGone = Scenario(
        "an indication whose subscribers are gone when it is its turn is over at once"
    ) {
        subscribersRun(mtus: [517], .indicate) { centrals, session, value in
            try await centrals[0].setConfirmsIndications(false)
            let first = Task { try await session.indicate(value, [1]) }
            try await expectIndication([1], of: value, by: centrals[0])
            let second = Task { try await session.indicate(value, [2]) }
            for _ in 0..<3 { _ = try await centrals[0].read(value) }
            try await centrals[0].disconnect()
            try await expectError(of: "indication", .disconnected) { try await first.value }
            try await expectSuccess(of: "indication for no central") { try await second.value }
        }
    }

    /// For an empty value, BlueZ reports only the number of confirmations, not the centrals.
    ///
    /// BlueZ also counts centrals that have disconnected.
    static func indicationOfAllWhileOneDisconnects(_ bytes: [UInt8]) -> Scenario {
        Scenario(
            "an indication for all of \(bytes.count) bytes fails when one of them leaves before it has confirmed"
        ) {
            subscribersRun(mtus: [517, 65], .indicate) { centrals, session, value in
                try await centrals[1].setConfirmsIndications(false)
                let indication = Task { try await session.indicate(value, bytes) }
                for central in centrals { try await expectIndication(bytes, of: value, by: central) }
                for central in centrals { _ = try await central.read(value) }
                try await centrals[1].disconnect()
                try await expectError(of: "indication", .disconnected) { try await indication.value }
                try await expectSuccess(of: "next indication") { try await session.indicate(value, [2]) }
                try await expectIndication([2], of: value, by: centrals[0])
            }
        }
    }

    static let indicationOfTheLastWhoLeaves = Scenario(
        "an indication for all fails when the only subscriber leaves before it has confirmed"
    ) {
        subscribersRun(mtus: [517], .indicate) { centrals, session, value in
            try await centrals[0].setConfirmsIndications(false)
            let indication = Task { try await session.indicate(value, []) }
            try await expectIndication([], of: value, by: centrals[0])
            try await centrals[0].disconnect()
            try await expectError(of: "indication", .disconnected) { try await indication.value }
        }
    }

    /// bluetoothd crashes if a confirmation arrives after the services are withdrawn.
    static let runEndsBeforeConfirmation = Scenario(
        "a run that ends awaits the confirmations of its last indications"
    ) {
        let value = Characteristic<[UInt8]>(ScenarioUUID.value, [.read, .indicate]) { Read { [] } }
        let peripheral = Peripheral("Again") { GATTService(ScenarioUUID.service) { value } }
        let late = Recorder<(any TestCentral, Task<Void, any Error>)>()
        return ScenarioRun(peripheral, mtu: nil, runs: 2) { central, session in
            guard late.count == 0 else {
                let (central, confirmation) = try await late.next()
                try await confirmation.value
                // If bluetoothd had crashed, the connection would have ended.
                _ = try await central.discover()
                return try await central.disconnect()
            }
            let central = try await central.makeAnother()
            try await central.connect()
            try await central.setConfirmsIndications(false)
            try await central.subscribe(to: value)
            let handle = try await central.locate(value).valueHandle
            _ = try await central.read(handle, offset: 0)
            try await session.notify(value, [1])
            try await expectIndication([1], of: value, by: central)
            let confirmation = Task {
                for await _ in session.events {}
                // Without the wait, the run would end in the meantime.
                for _ in 0..<5 { _ = try? await central.read(handle, offset: 0) }
                try await central.confirmIndication()
            }
            late.record((central, confirmation))
        }
    }

    /// Lets the attackers receive an indication, unsubscribe, and only then confirm.
    ///
    /// bluetoothd 5.80 and later uses a freed socket when the last indication through the socket is
    /// confirmed.
    private static func confirmLate(
        _ characteristic: Characteristic<[UInt8]>,
        _ attackers: [any TestCentral],
        _ update: (_ value: [UInt8]) async throws -> Void
    ) async throws {
        for number: UInt8 in 1...3 {
            for attacker in attackers { try await attacker.setConfirmsIndications(false) }
            try await update([number])
            for attacker in attackers {
                try await expectIndication([number], of: characteristic, by: attacker)
            }
            for attacker in attackers {
                try await attacker.unsubscribe(from: characteristic)
                try await attacker.confirmIndication()
            }
            // If bluetoothd had crashed, the connections would have ended.
            for attacker in attackers {
                _ = try await attacker.read(characteristic)
                try await subscribeToIndications(of: characteristic, attacker)
            }
        }
    }

    private static func subscribeToIndications(
        of characteristic: Characteristic<[UInt8]>,
        _ central: any TestCentral
    ) async throws {
        try await central.subscribe(central.locate(characteristic).valueHandle, to: .indication)
        // When this read is answered, the program knows the subscription.
        _ = try await central.read(characteristic)
    }

    static let unsubscriberConfirmsLate = Scenario(
        "two centrals that unsubscribe before they confirm what all are sent disturb no other"
    ) {
        let value = Characteristic<[UInt8]>(ScenarioUUID.value, [.read, .notify, .indicate]) { Read { [] } }
        let peripheral = Peripheral("Subscribers") { GATTService(ScenarioUUID.service) { value } }
        return ScenarioRun(peripheral, mtu: nil) { central, session in
            try await withCentrals(central, mtus: [517, 65, 23]) { centrals in
                let attackers = Array(centrals.dropFirst())
                try await centrals[0].subscribe(to: value)
                for attacker in attackers { try await subscribeToIndications(of: value, attacker) }
                try await confirmLate(value, attackers) { try await session.notify(value, $0) }
                for number: UInt8 in 1...3 {
                    try expect("update", try await centrals[0].nextUpdate(of: value), is: [number])
                }
            }
        }
    }

    static let onlyUnsubscriberConfirmsLate = Scenario(
        "the only subscriber that unsubscribes before it confirms disturbs no other"
    ) {
        subscribersRun(mtus: [517], .indicate) { centrals, session, value in
            try await withThrowingTaskGroup { group in
                try await confirmLate(value, centrals) { update in
                    let subscriber = try session.subscribers(of: value).compactMap(\.central)
                    try expect("subscribers", subscriber.count, is: 1)
                    group.addTask { try? await session.indicate(value, update, to: subscriber[0]) }
                }
            }
        }
    }

    /// A value for one of several subscribers can only be sent through its socket.
    static let addressedUnsubscriberConfirmsLate = Scenario(
        "a subscriber that unsubscribes before it confirms its own indication does not affect other subscribers"
    ) {
        subscribersRun(mtus: [517, 65], .indicate) { centrals, session, value in
            guard let subscriber = try session.subscribers(of: value).first?.central else {
                throw ConformanceFailure(description: "subscribers: there are none.")
            }
            try await confirmLate(value, [centrals[0]]) { update in
                do {
                    try await session.notify(value, update, to: subscriber)
                } catch let error as PeripheralError where error.code == .notAddressable {
                    try await session.notify(value, update)
                }
            }
        }
    }

    /// A run waits one second for confirmations; a killed program does not wait.
    static let confirmationAfterTheRun = Scenario(
        "a confirmation that arrives after the services are withdrawn does not affect other programs"
    ) {
        let value = Characteristic<[UInt8]>(ScenarioUUID.value, [.read, .indicate]) { Read { [] } }
        let peripheral = Peripheral("Too Late") { GATTService(ScenarioUUID.service) { value } }
        let late = Recorder<any TestCentral>()
        return ScenarioRun(peripheral, mtu: nil, runs: 2) { central, session in
            guard late.count == 0 else {
                let central = try await late.next()
                try await central.confirmIndication()
                // If bluetoothd had crashed, the connection would have ended.
                _ = try await central.discover()
                return try await central.disconnect()
            }
            let central = try await central.makeAnother()
            try await central.connect()
            try await central.setConfirmsIndications(false)
            try await central.subscribe(to: value)
            _ = try await central.read(value)
            try await session.notify(value, [1])
            try await expectIndication([1], of: value, by: central)
            late.record(central)
        }
    }
}
