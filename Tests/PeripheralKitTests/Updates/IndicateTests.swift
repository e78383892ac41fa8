import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct IndicateTests {
    private let alarm = Characteristic<UInt8>(0x2A46, .indicate)
    private let level = Characteristic<UInt8>(0x2A19, .notify)
    private let first = Central(address: .numbered(1), mtu: 100)
    private let second = Central(address: .numbered(2))
    private let link = RecordingLink()
    private let clock = ManualClock()

    /// Runs the body with both centrals subscribed, over a link that a test drives.
    private func run(
        _ body: @escaping @Sendable (PeripheralSession, any PeripheralHost) async throws -> Void
    ) async throws {
        let peripheral = Peripheral("Alarm") {
            GATTService(0x1802) {
                alarm; level
            }
        }
        let (hosts, give) = AsyncStream.makeStream(of: (any PeripheralHost).self)
        let backend = ScriptedBackend { [self] publication, host in
            for central in [first, second] {
                host.handle(.connected(central))
                for index in 0..<2 {
                    let handle = publication.table.valueHandle(service: 0, characteristic: index)
                    host.handle(.subscribed(BackendSubscription(characteristic: handle, central: central)))
                }
            }
            give.yield(host)
            host.handle(.published(PublishedPeripheral(link: link)))
            await link.untilStopped()
        }
        try await peripheral.run(on: backend, logger: .silent, clock: clock) { session in
            for await host in hosts { return try await body(session, host) }
        }
    }

    @Test func anIndicationReturnsWhenItIsConfirmed() async throws {
        try await run { [self] session, host in
            async let indication: Void = session.indicate(alarm, 7, to: first)
            let update = try #require(await link.next())
            #expect(update.recipients == .central(first.id))
            #expect(update.awaitsConfirmation)
            host.handle(.updateEnded(update.id, .completed))
            try await indication
        }
    }

    @Test func theNextToTheSameCentralWaits() async throws {
        try await run { [self] session, host in
            async let one: Void = session.indicate(alarm, 1, to: first)
            let sent = try #require(await link.next())
            async let two: Void = session.indicate(alarm, 2, to: first)
            async let other: Void = session.indicate(alarm, 3, to: second)
            let next = try #require(await link.next())
            #expect(next.value == [3])
            host.handle(.updateEnded(sent.id, .completed))
            try await one
            let last = try #require(await link.next())
            #expect(last.value == [2])
            for update in [next, last] { host.handle(.updateEnded(update.id, .completed)) }
            try await two
            try await other
        }
    }

    @Test func whatIsIndicatedIsCounted() async throws {
        try await run { [self] session, host in
            async let one: Void = session.indicate(alarm, 1, to: first)
            let sent = try #require(await link.next())
            let two = Task { try await session.indicate(alarm, 2, to: first) }
            let cancelled = Task { try await session.indicate(alarm, 3) }
            try await until { session.updateTotals.first?.counters.queued == 2 }
            #expect(session.updateTotals.map(\.counters.inFlight) == [1])
            #expect(session.updateTotals.map(\.counters.waits) == [2])
            #expect(session.updateStatistics.map(\.central) == [first.id, nil])
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.value }
            clock.advance(by: .seconds(7))
            host.handle(.updateEnded(sent.id, .completed))
            try await one
            let last = try #require(await link.next())
            let own = try #require(session.updateStatistics.first?.counters)
            #expect((own.queued, own.inFlight, own.sent, own.waits) == (0, 1, 1, 1))
            #expect(own.longestWait == .seconds(7))
            let unconfirmed = PeripheralError(code: .unconfirmed, message: "")
            host.handle(.updateEnded(last.id, .failed(unconfirmed)))
            await #expect(throws: PeripheralError.self) { try await two.value }
            let total = try #require(session.updateTotals.first?.counters)
            #expect((total.queued, total.inFlight, total.sent) == (0, 0, 1))
            #expect((total.givenUp, total.dropped, total.waits) == (1, 1, 2))
        }
    }

    @Test func aCentralThatLeavesEndsIt() async throws {
        try await run { [self] session, host in
            let indication = Task { try await session.indicate(alarm, 7, to: first) }
            _ = await link.next()
            host.handle(.disconnected(first.id))
            let error = await #expect(throws: PeripheralError.self) { try await indication.value }
            #expect(error?.code == .disconnected)
        }
    }

    @Test func aCentralThatDoesNotConfirmIsNotAwaitedForEver() async throws {
        try await run { [self] session, _ in
            let indication = Task { try await session.indicate(alarm, 7, to: first) }
            _ = await link.next()
            await clock.waitForSleeper()
            clock.advance(by: .seconds(30))
            let error = await #expect(throws: PeripheralError.self) { try await indication.value }
            #expect(error?.code == .unconfirmed)
        }
    }

    @Test func theNextWaitsUntilTheBackendHasEndedOneThatIsGivenUp() async throws {
        try await run { [self] session, host in
            let indication = Task { try await session.indicate(alarm, 1, to: first) }
            let sent = try #require(await link.next())
            await clock.waitForSleeper()
            clock.advance(by: .seconds(30))
            #expect(await link.nextGivenUp() == sent.id)
            await #expect(throws: PeripheralError.self) { try await indication.value }
            async let next: Void = session.indicate(alarm, 2, to: first)
            async let other: Void = session.indicate(alarm, 3, to: second)
            let update = try #require(await link.next())
            #expect(update.value == [3])
            host.handle(.updateEnded(sent.id, .failed(PeripheralError(code: .unconfirmed, message: ""))))
            let last = try #require(await link.next())
            #expect(last.value == [2])
            for update in [update, last] { host.handle(.updateEnded(update.id, .completed)) }
            try await next
            try await other
        }
    }

    @Test func cancellationEndsTheWaitButNotTheIndication() async throws {
        try await run { [self] session, host in
            let indication = Task { try await session.indicate(alarm, 1, to: first) }
            let sent = try #require(await link.next())
            indication.cancel()
            await #expect(throws: CancellationError.self) { try await indication.value }
            async let next: Void = session.indicate(alarm, 2, to: first)
            host.handle(.updateEnded(sent.id, .completed))
            let update = try #require(await link.next())
            #expect(update.value == [2])
            host.handle(.updateEnded(update.id, .completed))
            try await next
        }
    }

    @Test func whoHasNotSubscribedIsRefused() async throws {
        try await run { [self] session, _ in
            let stranger = Central(address: .numbered(9))
            let error = await #expect(throws: PeripheralError.self) {
                try await session.indicate(alarm, 7, to: stranger)
            }
            #expect(error?.code == .notSubscribed)
            let wrong = await #expect(throws: PeripheralError.self) {
                try await session.indicate(level, 7, to: first)
            }
            #expect(wrong?.code == .notDeclared)
        }
    }

    @Test func theEndOfTheSessionEndsIt() async throws {
        let outcome = Log<PeripheralError.Code>()
        let started = Log<Bool>()
        try await run { [self] session, _ in
            Task {
                do {
                    started.append(true)
                    try await session.indicate(alarm, 7, to: first)
                } catch let error as PeripheralError {
                    outcome.append(error.code)
                }
            }
            _ = await link.next()
        }
        await outcome.untilNotEmpty()
        #expect(outcome.entries == [.stopped])
    }
}
