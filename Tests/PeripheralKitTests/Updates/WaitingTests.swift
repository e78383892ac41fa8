import PeripheralKit
import PeripheralTesting
import Synchronization
import TestSupport
import Testing

/// Calls that wait for a subscriber, and for what was accepted.
@Suite(.timeLimit(.minutes(1)))
struct WaitingTests {
    private let level = Characteristic<UInt8>(0x2A19, [.read, .notify]) { Read { 1 } }
    private let central = Central(address: .numbered(1))
    private let link = RecordingLink()

    /// Runs the body on a peripheral from which updates leave when the test says so.
    private func run(
        _ body: @escaping @Sendable (PeripheralSession, any PeripheralHost) async throws -> Void
    ) async throws {
        let peripheral = Peripheral("Level") { GATTService(0x180F) { level } }
        let (hosts, give) = AsyncStream.makeStream(of: (any PeripheralHost).self)
        let backend = ScriptedBackend { [link] _, host in
            give.yield(host)
            host.handle(.published(PublishedPeripheral(link: link)))
            await link.untilStopped()
        }
        try await peripheral.run(on: backend, logger: .silent) { session in
            for await host in hosts { return try await body(session, host) }
        }
    }

    private func subscribe(_ host: any PeripheralHost) {
        host.handle(.connected(central))
        host.handle(.subscribed(BackendSubscription(characteristic: 3, central: central)))
    }

    @Test func aSubscriberEndsTheWait() async throws {
        try await run { [self] session, host in
            async let first = session.waitForSubscriber(of: level)
            async let second = session.waitForSubscriber(of: level)
            subscribe(host)
            let subscriptions = try await [first, second, session.waitForSubscriber(of: level)]
            #expect(subscriptions.map(\.central) == [central, central, central])
        }
    }

    @Test func whoWaitsForASubscriberCanBeCancelled() async throws {
        try await run { [self] session, _ in
            let waiting = Task { try await session.waitForSubscriber(of: level) }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
    }

    @Test func theEndOfTheSessionEndsTheWaits() async throws {
        let codes = Log<PeripheralError.Code>()
        try await run { [self] session, host in
            let undeclared = Characteristic<UInt8>(0x2A19, [.read, .notify]) { Read { 1 } }
            let wrong = await #expect(throws: PeripheralError.self) {
                try await session.waitForSubscriber(of: undeclared)
            }
            #expect(wrong?.code == .notDeclared)
            #expect(
                wrong?.message == "Characteristic 2a19 is not part of this peripheral. "
                    + "Use the constant from its declaration: another constant with the same UUID, "
                    + "for example of another type, is another characteristic."
            )
            Task {
                do { try await session.waitForSubscriber(of: level) } catch let error as PeripheralError {
                    codes.append(error.code)
                }
            }
        }
        await codes.untilNotEmpty()
        #expect(codes.entries == [.stopped])
    }

    @Test func allThatWasAcceptedIsAwaited() async throws {
        try await run { [self] session, host in
            try await session.waitUntilSent()
            subscribe(host)
            for value: UInt8 in 1...2 { #expect(try session.update(level, value)) }
            async let sent: Void = session.waitUntilSent()
            for _ in 1...2 {
                let update = try #require(await link.next())
                host.handle(.updateEnded(update.id, .completed))
            }
            try await sent
            #expect(try session.update(level, 3))
            _ = await link.next()
            let waiting = Task { try await session.waitUntilSent() }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
            async let dropped: Void = session.waitUntilSent()
            host.handle(.disconnected(central.id))
            try await dropped
        }
    }

    @Test func theWaitForTheStackIsCancelled() async throws {
        try await run { [self] session, host in
            subscribe(host)
            link.waitsForForwarding.withLock { $0 = 0 }
            let waiting = Task { try await session.waitUntilSent() }
            try await until { link.waitsForForwarding.withLock { $0 == 1 } }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
    }
}
