import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// How a run ends when a closure returns.
@Suite(.timeLimit(.minutes(1)))
struct RunUntilTests {
    private struct Mishap: Error, Equatable {}

    private let peripheral = Peripheral("Until") {
        GATTService(0x180F) { Characteristic<UInt8>(0x2A19, value: 1) }
    }

    @Test func theBodyIsCancelledWhenTheClosureReturns() async throws {
        let backend = InMemoryBackend()
        let order = Log<String>()
        try await peripheral.run(on: backend, logger: .silent) { _ in
            order.append("begun")
            await untilCancelled()
            order.append("cancelled")
            throw CancellationError()
        } until: {
            await order.untilNotEmpty()
        }
        #expect(order.entries == ["begun", "cancelled"])
        #expect(backend.makeCentral(of: peripheral).scan().isEmpty)
    }

    @Test func pendingRequestsAreAnswered() async throws {
        let order = Log<String>()
        let (ends, end) = AsyncStream.makeStream(of: Never.self)
        let level = Characteristic<UInt8>(0x2A19, .read) {
            Read {
                order.append("asked")
                for await _ in ends {}
                try Task.checkCancellation()
                return 42
            }
        }
        let peripheral = Peripheral("Until") { GATTService(0x180F) { level } }
        let backend = InMemoryBackend()
        let central = backend.makeCentral(of: peripheral)
        let begun = Log<Void>()
        // The clock stands still, because a handler may be late on a busy machine.
        async let run: Void = peripheral.run(on: backend, logger: .silent, clock: ManualClock()) { _ in
            begun.append(())
            await untilCancelled()
            end.finish()
        } until: {
            await order.untilNotEmpty()
        }
        await begun.untilNotEmpty()
        try await central.connect()
        #expect(try await central.read(level) == 42)
        try await run
    }

    @Test func withoutABodyItRunsUntilTheClosureReturns() async throws {
        let published = Log<String>()
        let backend = ScriptedBackend { _, host in
            let link = RecordingLink()
            host.handle(.published(PublishedPeripheral(link: link)))
            published.append("published")
            await link.untilStopped()
            published.append("withdrawn")
        }
        try await peripheral.run(on: backend, logger: .silent) { await published.untilNotEmpty() }
        #expect(published.entries == ["published", "withdrawn"])
    }

    @Test func aBodyThatHasNotBegunDoesNotBegin() async throws {
        let waiting = Log<String>()
        let backend = ScriptedBackend { _, _ in
            waiting.append("waiting")
            await untilCancelled()
            throw CancellationError()
        }
        try await peripheral.run(on: backend, logger: .silent) { _ in
            Issue.record("The body has begun.")
        } until: {
            await waiting.untilNotEmpty()
        }
    }

    @Test func registeredServicesAnswerEvenIfTheBodyHasNotBegun() async throws {
        let clock = ManualClock()
        let order = Log<String>()
        let backend = ScriptedBackend { _, host in
            host.handle(.stateChanged(PeripheralState(isRegistered: true)))
            order.append("registered")
            try await until { clock.sleeperCount == 1 }
            let link = RecordingLink()
            host.handle(.published(PublishedPeripheral(link: link)))
            await link.untilStopped()
            order.append(Task.isCancelled ? "cancelled" : "stopped")
        }
        try await peripheral.run(on: backend, logger: .silent, clock: clock) { _ in
            Issue.record("The body has begun.")
        } until: {
            await order.untilNotEmpty()
        }
        #expect(order.entries == ["registered", "stopped"])
    }

    @Test func aBodyThatIgnoresTheStopCancelsTheRunAfterFiveSeconds() async throws {
        let clock = ManualClock()
        let order = Log<String>()
        let backend = ScriptedBackend { _, host in
            let link = RecordingLink()
            host.handle(.published(PublishedPeripheral(link: link)))
            await untilCancelled()
            order.append("withdrawn")
        }
        let (bodyEnds, endBody) = AsyncStream.makeStream(of: Never.self)
        // A failure of the test also ends the body.
        defer { endBody.finish() }
        async let run: Void = peripheral.run(on: backend, logger: .silent, clock: clock) { _ in
            order.append("begun")
            // Another task is not cancelled.
            await Task { for await _ in bodyEnds {} }.value
        } until: {
            await order.untilNotEmpty()
        }
        try await until { clock.sleeperCount == 1 }
        clock.advance(by: .milliseconds(4_999))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .milliseconds(1))
        try await until { order.entries.count == 2 }
        endBody.finish()
        try await run
        #expect(order.entries == ["begun", "withdrawn"])
    }

    @Test func aCancelledTaskThrowsCancellation() async {
        let order = Log<String>()
        let run = Task { [peripheral] in
            try await peripheral.run(on: InMemoryBackend(), logger: .silent) { _ in
                order.append("begun")
                await untilCancelled()
                try Task.checkCancellation()
            } until: {
                await untilCancelled()
            }
        }
        await order.untilNotEmpty()
        run.cancel()
        await #expect(throws: CancellationError.self) { try await run.value }
    }

    @Test func theBodysErrorBeforeTheStopIsThrown() async {
        await #expect(throws: Mishap()) {
            try await peripheral.run(on: InMemoryBackend(), logger: .silent) { _ in
                throw Mishap()
            } until: {
                await untilCancelled()
            }
        }
    }

    @Test func theBodysErrorAfterTheStopIsThrownToo() async {
        let order = Log<String>()
        await #expect(throws: Mishap()) {
            try await peripheral.run(on: InMemoryBackend(), logger: .silent) { _ in
                order.append("begun")
                await untilCancelled()
                throw Mishap()
            } until: {
                await order.untilNotEmpty()
            }
        }
    }

    @Test func aBodyThatReturnsCancelsTheClosure() async throws {
        try await peripheral.run(on: InMemoryBackend(), logger: .silent) { _ in
        } until: {
            await untilCancelled()
        }
    }
}

private func untilCancelled() async {
    for await _ in AsyncStream(Never.self, { _ in }) {}
}
