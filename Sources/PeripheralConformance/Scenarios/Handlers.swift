internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting
private import Synchronization

extension ConformanceSuite {
    static let handlers: [Scenario] = [
        updateWhileHandlerWaits, lateReadIsAnswered, lateWriteIsAnswered, eightRequestsOfOneCentral,
        requestsOfFourCentrals, commandsAreHandledInTurn, commandsKeepTheirOrder, readComesAfterCommand,
        readerVanishes, writerVanishes,
    ]

    static let updateWhileHandlerWaits = Scenario("updates arrive while a handler waits") {
        let entered = Recorder<Void>()
        let release = Recorder<Void>()
        let slow = Characteristic<UInt8>(ScenarioUUID.value, .read) {
            Read {
                entered.record(())
                try await release.next()
                return 1
            }
        }
        let value = Characteristic<UInt8>(ScenarioUUID.otherValue, [.read, .notify]) { Read { 0 } }
        let peripheral = Peripheral("Slow") {
            GATTService(ScenarioUUID.service) {
                slow; value
            }
        }
        return ScenarioRun(peripheral) { central, session in
            try await central.subscribe(to: value)
            _ = try await central.read(value)
            async let answer = central.read(slow)
            try await entered.next()
            for number: UInt8 in 1...3 { try await session.notify(value, number) }
            release.record(())
            try expect("value", try await answer, is: 1)
            for number: UInt8 in 1...3 {
                try expect("update", try await central.nextUpdate(of: value), is: number)
            }
        }
    }

    // MARK: Late

    /// The framework's time limit for a handler; it is shorter than bluetoothd's limit of 5 s.
    private static let limit = Duration.seconds(4)

    /// Waits until the task is cancelled, on a clock that stands still.
    private static func answerNever() async throws {
        try await ManualClock().sleep(for: limit)
    }

    /// Creates a run in which the handlers of a characteristic never answer.
    private static func lateRun(
        _ request:
            @escaping @Sendable (any TestCentral, _ late: Characteristic<UInt8>) async throws -> Void
    ) -> ScenarioRun {
        let entered = Recorder<Void>()
        let late = Characteristic<UInt8>(ScenarioUUID.value, [.read, .write]) {
            Read {
                entered.record(())
                try await answerNever()
                return 0
            }
            Write { _ in
                entered.record(())
                try await answerNever()
            }
        }
        let quick = Characteristic<UInt8>(ScenarioUUID.otherValue, .read) { Read { 2 } }
        let peripheral = Peripheral("Late") {
            GATTService(ScenarioUUID.service) {
                late; quick
            }
        }
        return ScenarioRun(timed: peripheral) { central, _, clock in
            async let refusal: Void = expectRefusal(of: "late request", by: .unlikelyError) {
                try await request(central, late)
            }
            try await entered.next()
            await clock?.waitForSleeper()
            clock?.advance(by: limit)
            try await refusal
            try expect("value afterwards", try await central.read(quick), is: 2)
        }
    }

    static let lateReadIsAnswered = Scenario("a read whose handler never answers is refused in time") {
        lateRun { central, late in _ = try await central.read(late) }
    }

    static let lateWriteIsAnswered = Scenario("a write whose handler never answers is refused in time") {
        lateRun { central, late in try await central.write(late, 1) }
    }

    // MARK: Many at once

    static let eightRequestsOfOneCentral = Scenario("eight requests of one central at once are all answered")
    {
        let values = (0..<8).map { number in
            Characteristic<UInt8>(ScenarioUUID.value, .read) { Read { UInt8(number) } }
        }
        let peripheral = Peripheral("Eight") { GATTService(ScenarioUUID.service) { values } }
        return ScenarioRun(peripheral) { central, _ in
            try await withThrowingTaskGroup { group in
                for (number, value) in values.enumerated() {
                    group.addTask {
                        try expect("value \(number)", try await central.read(value), is: UInt8(number))
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    static let requestsOfFourCentrals = Scenario("handlers of four centrals run at the same time") {
        let entered = Recorder<Int>()
        let releases = (0..<4).map { _ in Recorder<Void>() }
        let values = releases.enumerated().map { number, release in
            Characteristic<UInt8>(ScenarioUUID.value, .read) {
                Read {
                    entered.record(number)
                    try await release.next()
                    return UInt8(number)
                }
            }
        }
        let peripheral = Peripheral("Four") { GATTService(ScenarioUUID.service) { values } }
        return ScenarioRun(peripheral, mtu: nil) { central, _ in
            try await withCentrals(central, mtus: [517, 23, 65, 247]) { centrals in
                try await withThrowingTaskGroup { group in
                    for (number, central) in centrals.enumerated() {
                        group.addTask {
                            try expect(
                                "value \(number)",
                                try await central.read(values[number]),
                                is: UInt8(number)
                            )
                        }
                    }
                    var running: Set<Int> = []
                    for _ in centrals { running.insert(try await entered.next()) }
                    try expect("handlers at once", running, is: [0, 1, 2, 3])
                    // The handlers answer in reverse order.
                    for release in releases.reversed() { release.record(()) }
                    try await group.waitForAll()
                }
            }
        }
    }

    static let commandsAreHandledInTurn = Scenario("commands of one central are handled one after the other")
    {
        let running = Mutex(0)
        let entered = Recorder<Int>()
        let release = Recorder<Void>()
        let command = Characteristic<UInt8>(ScenarioUUID.value, .writeWithoutResponse) {
            Write { number in
                let others = running.withLock { running in
                    defer { running += 1 }
                    return running
                }
                entered.record(others)
                if number == 0 { try await release.next() }
                running.withLock { $0 -= 1 }
            }
        }
        let value = Characteristic<UInt8>(ScenarioUUID.otherValue, .read) { Read { 1 } }
        let peripheral = Peripheral("Turns") {
            GATTService(ScenarioUUID.service) {
                command; value
            }
        }
        return ScenarioRun(peripheral) { central, _ in
            try await withThrowingTaskGroup { group in
                // In memory, a command returns only when its handler returns.
                group.addTask { try await central.writeWithoutResponse(command, 0) }
                var others = [try await entered.next()]
                for _ in 1..<8 {
                    group.addTask { try await central.writeWithoutResponse(command, 1) }
                }
                // This gives a handler time to run out of turn.
                for _ in 1...8 { _ = try await central.read(value) }
                release.record(())
                for _ in 1..<8 { others.append(try await entered.next()) }
                try expect("other handlers at work", others, is: [Int](repeating: 0, count: 8))
                try await group.waitForAll()
            }
        }
    }

    static let commandsKeepTheirOrder = Scenario("commands arrive in the order in which they are sent") {
        let written = Recorder<UInt8>()
        let command = Characteristic<UInt8>(ScenarioUUID.value, .writeWithoutResponse) {
            Write { written.record($0) }
        }
        let peripheral = Peripheral("Sequence") { GATTService(ScenarioUUID.service) { command } }
        return ScenarioRun(peripheral) { central, _ in
            for number: UInt8 in 0..<40 { try await central.writeWithoutResponse(command, number) }
            for number: UInt8 in 0..<40 { try expect("command", try await written.next(), is: number) }
        }
    }

    static let readComesAfterCommand = Scenario(
        "a central reads what it has written without response just before, and no other waits for that"
    ) {
        let stored = Mutex<UInt8>(0)
        let entered = Recorder<Void>()
        let release = Recorder<Void>()
        let value = Characteristic<UInt8>(ScenarioUUID.value, [.read, .writeWithoutResponse]) {
            Read { stored.withLock(\.self) }
            Write { value in
                entered.record(())
                try await release.next()
                stored.withLock { $0 = value }
            }
        }
        let peripheral = Peripheral("Aftermath") { GATTService(ScenarioUUID.service) { value } }
        return ScenarioRun(peripheral, mtu: nil) { central, _ in
            try await withCentrals(central, mtus: [517, 23]) { centrals in
                let (writer, other) = (centrals[0], centrals[1])
                async let command: Void = writer.writeWithoutResponse(value, 7)
                try await entered.next()
                async let answer = writer.read(value)
                // This gives a read time to run out of turn.
                for _ in 1...8 { try expect("value for another", try await other.read(value), is: 0) }
                release.record(())
                try await command
                try expect("value for the writer", try await answer, is: 7)
                try expect("value for another afterwards", try await other.read(value), is: 7)
            }
        }
    }

    // MARK: Disconnected

    /// Creates a run in which the first request waits during a change of the central.
    ///
    /// While the request waits, its central disconnects and another central connects. The wait is longer than
    /// the stack's time limit for the answer.
    private static func vanishingRun(
        _ request: @escaping @Sendable (any TestCentral, Characteristic<UInt8>) async throws -> Void
    ) -> ScenarioRun {
        let count = Counter()
        let entered = Recorder<Void>()
        let release = Recorder<Void>()
        @Sendable func waitOnce() async throws {
            guard count.next() == 1 else { return }
            entered.record(())
            try await release.next()
        }
        let value = Characteristic<UInt8>(ScenarioUUID.value, [.read, .write]) {
            Read {
                try await waitOnce()
                return 7
            }
            Write { _ in try await waitOnce() }
        }
        let late = Characteristic<UInt8>(ScenarioUUID.otherValue, .read) {
            Read {
                entered.record(())
                try await answerNever()
                return 0
            }
        }
        let peripheral = Peripheral("Vanishing") {
            GATTService(ScenarioUUID.service) {
                value; late
            }
        }
        return ScenarioRun(timed: peripheral, mtu: nil) { central, _, clock in
            try await central.connect()
            try await withThrowingTaskGroup { group in
                // The outcome does not matter, because the central has disconnected.
                group.addTask { try? await request(central, value) }
                try await entered.next()
                try await central.disconnect()
                try await withCentrals(central.makeAnother(), mtus: [65]) { others in
                    let other = others[0]
                    try await request(other, value)
                    try expect("value for the next", try await other.read(value), is: 7)
                    release.record(())
                    try await group.waitForAll()
                    for _ in 1...2 {
                        async let refusal: Void = expectRefusal(of: "late read", by: .unlikelyError) {
                            try await other.read(late)
                        }
                        try await entered.next()
                        await clock?.waitForSleeper()
                        clock?.advance(by: limit)
                        try await refusal
                    }
                    try expect("value afterwards", try await other.read(value), is: 7)
                }
            }
            try await central.connect()
            try await request(central, value)
            try expect("value for the one that is back", try await central.read(value), is: 7)
        }
    }

    static let readerVanishes = Scenario(
        "a central that disconnects during its read does not affect other centrals"
    ) {
        vanishingRun { central, value in _ = try await central.read(value) }
    }

    static let writerVanishes = Scenario(
        "a central that disconnects during its write does not affect other centrals"
    ) {
        vanishingRun { central, value in try await central.write(value, 1) }
    }
}
