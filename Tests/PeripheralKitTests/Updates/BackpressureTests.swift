import PeripheralCore
import Synchronization
import TestSupport
import Testing

@testable import PeripheralKit

/// `update` and `readyToUpdate` of a session, on a stack from which updates leave when the test says so.
@Suite(.timeLimit(.minutes(1)))
struct BackpressureTests {
    private static let value = Characteristic<UInt8>(0x2A19, .notify)
    private static let handle: AttributeHandle = 3

    /// Runs the body with a central that has subscribed.
    private func run(
        _ body:
            @escaping @Sendable (PeripheralSession, any PeripheralHost, RecordingLink, Central) async throws
            -> Void
    ) async throws {
        let peripheral = Peripheral("Slow") { GATTService(.battery) { Self.value } }
        let central = Central(address: .numbered(1))
        let link = RecordingLink()
        let (hosts, host) = AsyncStream.makeStream(of: (any PeripheralHost).self)
        let backend = ScriptedBackend { _, served in
            served.handle(.published(PublishedPeripheral(link: link)))
            served.handle(.connected(central))
            served.handle(.subscribed(BackendSubscription(characteristic: Self.handle, central: central)))
            host.yield(served)
            await link.untilStopped()
        }
        try await peripheral.run(on: backend, logger: .silent) { session in
            for await host in hosts { return try await body(session, host, link, central) }
        }
    }

    private static func fill(_ session: PeripheralSession) throws {
        while try session.update(value, 0) {}
    }

    @Test func anUpdateThatFindsNoRoomIsNotQueued() async throws {
        try await run { session, host, link, central in
            try Self.fill(session)
            #expect(link.sent.count == 16)
            #expect(try !session.update(Self.value, 1, to: central))
            let statistics = try #require(session.updateStatistics.first)
            #expect(statistics.central == central.id && statistics.characteristic == 0x2A19)
            let counters = statistics.counters
            #expect((counters.queued, counters.inFlight, counters.refused) == (16, 16, 2))
            for update in link.sent { host.handle(.updateEnded(update.id, .completed)) }
            #expect(link.sent.count == 32)
            #expect(session.updateStatistics.first?.counters.sent == 16)
        }
    }

    @Test func theBackendTellsHowManyMayBeOnTheirWay() async throws {
        try await run { session, host, link, _ in
            #expect(session.completionReporting == .unknown)
            host.handle(
                .published(PublishedPeripheral(link: link, completionReporting: .estimated, window: 20))
            )
            #expect(session.completionReporting == .estimated)
            try Self.fill(session)
            #expect(link.sent.count == 20)
        }
    }

    /// A central may come while the advertisement is still being registered.
    @Test func whatIsSentBeforeThePublicationGoesOutWithIt() async throws {
        try await run { session, host, link, central in
            host.handle(.suspended)
            host.handle(.connected(central))
            host.handle(.subscribed(BackendSubscription(characteristic: Self.handle, central: central)))
            let isQueued = try session.update(Self.value, 7)
            #expect(isQueued && link.sent.isEmpty)
            host.handle(.published(PublishedPeripheral(link: link)))
            #expect(link.sent.map(\.value) == [[7]])
        }
    }

    /// The backend recognizes the update for the earlier subscription, and does not send it.
    @Test func anUpdateNamesTheLastSubscriptionThatItIsFor() async throws {
        try await run { session, host, link, central in
            host.handle(.suspended)
            host.handle(.connected(central))
            for number: UInt64 in [7, 8] {
                let subscription = BackendSubscription(
                    characteristic: Self.handle,
                    central: central,
                    number: number
                )
                host.handle(.subscribed(subscription))
                let isQueued = try session.update(Self.value, UInt8(number))
                #expect(isQueued)
            }
            host.handle(.published(PublishedPeripheral(link: link)))
            #expect(link.sent.map(\.value) == [[7], [8]])
            #expect(link.sent.map(\.lastSubscription) == [7, 8])
            #expect(session.updateStatistics.map(\.counters.inFlight) == [1])
        }
    }

    @Test func readyComesAlsoWhenThereWasRoomBeforeTheWait() async throws {
        try await run { session, _, _, central in
            try await session.readyToUpdate(Self.value)
            try await session.readyToUpdate(Self.value, to: central)
        }
    }

    @Test func allWhoWaitAreToldOfRoom() async throws {
        try await run { session, host, link, central in
            try Self.fill(session)
            try await withThrowingTaskGroup { group in
                for number in 0..<8 {
                    group.addTask {
                        number.isMultiple(of: 2)
                            ? try await session.readyToUpdate(Self.value)
                            : try await session.readyToUpdate(Self.value, to: central)
                    }
                }
                // All of them have found no room.
                try await until { session.updateStatistics.map(\.counters.waits) == [8] }
                // Waiting calls do not resume for each free place.
                for update in link.sent.prefix(7) { host.handle(.updateEnded(update.id, .completed)) }
                #expect(session.runtime.updates.waiting == 8)
                host.handle(.updateEnded(link.sent[7].id, .completed))
                try await group.waitForAll()
            }
            #expect(try session.update(Self.value, 1))
        }
    }

    @Test func severalCentralsAreUpdatedTogether() async throws {
        try await run { session, host, link, central in
            let other = Central(address: .numbered(2))
            let error = #expect(throws: PeripheralError.self) {
                try session.update(Self.value, 1, to: [central, other])
            }
            #expect(error?.code == .notSubscribed && link.sent.isEmpty)
            host.handle(.connected(other))
            host.handle(.subscribed(BackendSubscription(characteristic: Self.handle, central: other)))
            try await session.readyToUpdate(Self.value, to: [central, other])
            #expect(try session.update(Self.value, 2, to: [central, other]))
            #expect(link.sent.map(\.recipients) == [.central(central.id), .central(other.id)])
        }
    }

    enum End: CaseIterable {
        case disconnected, unsubscribed, suspended

        var code: PeripheralError.Code {
            self == .unsubscribed ? .notSubscribed : .disconnected
        }
    }

    @Test(arguments: End.allCases)
    func aWaitForACentralEndsWithItsSubscription(end: End) async throws {
        try await run { session, host, _, central in
            try Self.fill(session)
            async let room = Self.code { try await session.readyToUpdate(Self.value, to: central) }
            async let sending = Self.code { try await session.notify(Self.value, 1, to: central) }
            async let roomForAll = Self.code { try await session.readyToUpdate(Self.value) }
            try await until { session.runtime.updates.waiting == 3 }
            switch end {
            case .disconnected: host.handle(.disconnected(central.id))
            case .unsubscribed: host.handle(.unsubscribed(Self.handle, by: central.id))
            case .suspended: host.handle(.suspended)
            }
            #expect(await room == end.code)
            #expect(await sending == end.code)
            // No subscriber is left, so an update for all subscribers has room.
            #expect(await roomForAll == nil)
        }
    }

    @Test func waitsEndWithTheSession() async throws {
        let left = Mutex<Task<PeripheralError.Code?, Never>?>(nil)
        try await run { session, _, _, _ in
            try Self.fill(session)
            let task = Task { await Self.code { try await session.readyToUpdate(Self.value) } }
            left.withLock { $0 = task }
            try await until { session.runtime.updates.waiting == 1 }
        }
        #expect(await left.withLock(\.self)?.value == .stopped)
    }

    @Test func aCancelledCallSendsNothing() async throws {
        try await run { session, host, link, _ in
            try Self.fill(session)
            let tasks = [
                Task { try await session.readyToUpdate(Self.value) },
                Task { try await session.notify(Self.value, 77) },
            ]
            try await until { session.runtime.updates.waiting == 2 }
            for task in tasks {
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
            }
            var index = 0
            while index < link.sent.count {
                host.handle(.updateEnded(link.sent[index].id, .completed))
                index += 1
            }
            #expect(link.sent.count == 32)
            #expect(!link.sent.contains { $0.value == [77] })
        }
    }

    /// The one that has sent it goes on when the stack has taken it; there is room for another when it has
    /// left.
    @Test func whatIsTakenHasNotLeft() async throws {
        try await run { session, host, link, _ in
            for number in 0..<16 as Range<UInt8> {
                async let sending: Void = session.notify(Self.value, number)
                let update = try #require(await link.next())
                host.handle(.updateTaken(update.id))
                try await sending
            }
            #expect(try session.update(Self.value, 16))
            #expect(link.sent.count == 16)
            host.handle(.updateEnded(link.sent[0].id, .completed))
            #expect(link.sent.count == 17)
        }
    }

    private static func code(_ body: () async throws -> Void) async -> PeripheralError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? PeripheralError)?.code
        }
    }
}
