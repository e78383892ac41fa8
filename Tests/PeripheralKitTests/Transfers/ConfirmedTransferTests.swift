import PeripheralTesting
import Synchronization
import TestSupport
import Testing

@testable import PeripheralKit

/// Documents whose chunks are confirmed, over a link that a test drives.
@Suite(.timeLimit(.minutes(1)))
struct ConfirmedTransferTests {
    private let text = Characteristic<[UInt8]>(0x2A3D, .indicate)
    private let other = Characteristic<[UInt8]>(0x2A3E, .indicate)
    private let central = Central(address: .numbered(1))
    private let link = RecordingLink()
    private let clock = ManualClock()
    private let marker = Array("EOM".utf8)
    private let first: [UInt8] = Array(repeating: 1, count: 20)
    private let second: [UInt8] = Array(repeating: 2, count: 20)

    private func run(
        _ body:
            @escaping @Sendable (PeripheralSession, any PeripheralHost, AttributeHandle) async throws -> Void
    ) async throws {
        let peripheral = Peripheral("Transfers") {
            GATTService(0x180F) {
                text; other
            }
        }
        let (hosts, give) = AsyncStream.makeStream(of: (any PeripheralHost, AttributeHandle).self)
        let backend = ScriptedBackend { [self] publication, host in
            host.handle(.connected(central))
            let handles = (0..<2).map { publication.table.valueHandle(service: 0, characteristic: $0) }
            for handle in handles {
                host.handle(.subscribed(BackendSubscription(characteristic: handle, central: central)))
            }
            link.deliver(for: host)
            give.yield((host, handles[0]))
            host.handle(.published(PublishedPeripheral(link: link)))
            await link.untilStopped()
        }
        try await peripheral.run(on: backend, logger: .silent, clock: clock) { session in
            for await (host, handle) in hosts { return try await body(session, host, handle) }
        }
    }

    private func send(_ chunks: [UInt8]..., by session: PeripheralSession) -> Task<Void, any Error> {
        Task { [self] in
            try await session.send(Array(chunks.joined()), over: text, to: central, by: .indication)
        }
    }

    /// Returns when so many calls have begun that wait for something.
    private func untilWaiting(_ count: Int, in session: PeripheralSession) async throws {
        try await until {
            session.runtime.updates.state.withLock { $0.transfers.count + $0.callers.count == count }
        }
    }

    /// Confirms an update and all after it, until it is a value.
    private func confirm(_ update: BackendUpdate?, until last: [UInt8], _ host: any PeripheralHost) async
        -> [[UInt8]]
    {
        var (update, values): (BackendUpdate?, [[UInt8]]) = (update, [])
        while let submitted = update {
            values.append(submitted.value)
            if submitted.awaitsConfirmation { host.handle(.updateEnded(submitted.id, .completed)) }
            guard submitted.value != last else { return values }
            update = await link.next()
        }
        return values
    }

    @Test func anIndicationOfTheSameCharacteristicWaitsForTheDocument() async throws {
        try await run { [self] session, host, _ in
            let document = send(first, second, by: session)
            let chunk = await link.next()
            let same = Task { try await session.indicate(text, [9], to: central) }
            try await untilWaiting(2, in: session)
            let another = Task { try await session.indicate(other, [8], to: central) }
            try await untilWaiting(3, in: session)
            // What is of another characteristic comes between the chunks.
            #expect(await confirm(chunk, until: [9], host) == [first, [8], second, marker, [9]])
            for task in [document, same, another] { try await task.value }
        }
    }

    @Test func anIndicationToAllWaitsForTheDocument() async throws {
        try await run { [self] session, host, _ in
            let document = send(first, second, by: session)
            let chunk = await link.next()
            let all = Task { try await session.indicate(text, [9]) }
            try await untilWaiting(2, in: session)
            #expect(await confirm(chunk, until: [9], host) == [first, second, marker, [9]])
            for task in [document, all] { try await task.value }
        }
    }

    @Test func whatCameBeforeTheDocumentComesBeforeIt() async throws {
        try await run { [self] session, host, _ in
            let before = Task { try await session.indicate(other, [8], to: central) }
            let outstanding = await link.next()
            let same = Task { try await session.indicate(text, [9], to: central) }
            try await untilWaiting(2, in: session)
            let document = send(first, by: session)
            try await untilWaiting(3, in: session)
            #expect(await confirm(outstanding, until: marker, host) == [[8], [9], first, marker])
            for task in [before, same, document] { try await task.value }
        }
    }

    @Test func theMarkOfOneThatIsCancelledComesBeforeTheNext() async throws {
        try await run { [self] session, host, _ in
            let cancelled = send(first, first, by: session)
            let chunk = await link.next()
            let next = send(second, by: session)
            try await untilWaiting(2, in: session)
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.value }
            var values = await confirm(chunk, until: second, host)
            values += await confirm(await link.next(), until: marker, host)
            #expect(values == [first, marker, second, marker])
            try await next.value
        }
    }

    @Test func oneThatIsCancelledBeforeItHasBegunLeavesNothing() async throws {
        try await run { [self] session, host, _ in
            let document = send(first, by: session)
            let chunk = await link.next()
            let cancelled = send(second, by: session)
            try await untilWaiting(2, in: session)
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.value }
            let last = Task { try await session.indicate(text, [9], to: central) }
            try await untilWaiting(2, in: session)
            #expect(await confirm(chunk, until: [9], host) == [first, marker, [9]])
            for task in [document, last] { try await task.value }
        }
    }

    /// A chunk waits for its turn behind an indication of another characteristic.
    @Test func aChunkOfAnEarlierSubscriptionIsNotSent() async throws {
        try await run { [self] session, host, handle in
            let document = send(first, second, by: session)
            let chunk = try #require(await link.next())
            let another = Task { try await session.indicate(other, [8], to: central) }
            try await untilWaiting(2, in: session)
            host.handle(.updateEnded(chunk.id, .completed))
            let outstanding = await link.next()
            // The next chunk waits behind it.
            try await untilWaiting(2, in: session)
            host.handle(.subscribed(BackendSubscription(characteristic: handle, central: central)))
            #expect(await confirm(outstanding, until: marker, host) == [[8], first, second, marker])
            for task in [document, another] { try await task.value }
        }
    }

    @Test func aValueOfTheSameCharacteristicFollowsTheDocument() async throws {
        try await run { [self] session, host, _ in
            let document = send(first, second, by: session)
            let chunk = await link.next()
            #expect(try session.update(text, [9]))
            #expect(await confirm(chunk, until: [9], host) == [first, second, marker, [9]])
            try await document.value
        }
    }

    @Test func whoHasPartOfOneThatHasFailedIsToldByTheMarkOfTheNext() async throws {
        try await run { [self] session, host, _ in
            let lost = send(first, by: session)
            let chunk = try #require(await link.next())
            await clock.waitForSleeper()
            clock.advance(by: .seconds(30))
            let error = await #expect(throws: PeripheralError.self) { try await lost.value }
            #expect(error?.code == .unconfirmed)
            #expect(await link.nextGivenUp() == chunk.id)
            let next = send(second, by: session)
            try await untilWaiting(1, in: session)
            host.handle(.updateEnded(chunk.id, .failed(PeripheralError(code: .unconfirmed, message: ""))))
            var values = await confirm(await link.next(), until: second, host)
            values += await confirm(await link.next(), until: marker, host)
            #expect(values == [marker, second, marker])
            try await next.value
        }
    }

    @Test(arguments: [false, true])
    func aCentralThatLeavesEndsIt(isWaiting: Bool) async throws {
        try await run { [self] session, host, _ in
            var another: Task<Void, any Error>?
            if isWaiting {
                another = Task { try await session.indicate(other, [8], to: central) }
                _ = await link.next()
            }
            let document = send(first, by: session)
            if isWaiting { try await untilWaiting(2, in: session) } else { _ = await link.next() }
            host.handle(.disconnected(central.id))
            let error = await #expect(throws: PeripheralError.self) { try await document.value }
            #expect(error?.code == .disconnected)
            if let another { await #expect(throws: PeripheralError.self) { try await another.value } }
            #expect(session.updateTotals.allSatisfy { $0.counters.inFlight == 0 })
        }
    }

    @Test func whoAsksForNotificationsMeanwhileGetsNoMore() async throws {
        try await run { [self] session, host, handle in
            let document = send(first, second, by: session)
            let chunk = try #require(await link.next())
            let anew = BackendSubscription(characteristic: handle, central: central, kind: .notification)
            host.handle(.subscribed(anew))
            host.handle(.updateEnded(chunk.id, .failed(.notSubscribed)))
            let error = await #expect(throws: PeripheralError.self) { try await document.value }
            #expect(error?.code == .notSubscribed)
        }
    }

    @Test func itIsCountedAsItsChunks() async throws {
        try await run { [self] session, host, _ in
            let document = send(first, second, by: session)
            let chunk = await link.next()
            #expect(session.updateStatistics.map(\.counters.inFlight) == [1])
            _ = await confirm(chunk, until: marker, host)
            try await document.value
            #expect(session.updateStatistics.map(\.counters.sent) == [3])
        }
    }
}
