import PeripheralKit
import TestSupport
import Testing

/// How `Peripheral.run` ends.
@Suite(.timeLimit(.minutes(1)))
struct RunTests {
    private struct Mishap: Error, Equatable {
        var number = 1
    }

    private let level = Characteristic<UInt8>(0x2A19, .notify)

    private var peripheral: Peripheral {
        Peripheral("Run") { GATTService(0x180F) { level } }
    }

    private static let brokenStack = PeripheralError(code: .connectionLost, message: "The stack is gone.")

    @Test func theBodyBeginsWhenThePeripheralIsPublished() async throws {
        let order = Log<String>()
        let backend = ScriptedBackend { _, host in
            order.append("registered")
            let link = RecordingLink()
            host.handle(.published(PublishedPeripheral(link: link)))
            await link.untilStopped()
            order.append("withdrawn")
        }
        let output = try await peripheral.run(on: backend, logger: .silent) { _ in
            order.append("body")
            return 42
        }
        #expect(output == 42)
        #expect(order.entries == ["registered", "body", "withdrawn"])
    }

    @Test func theBodysErrorIsThrownAfterTheWithdrawal() async {
        let order = Log<String>()
        let backend = ScriptedBackend { _, host in
            let link = RecordingLink()
            host.handle(.published(PublishedPeripheral(link: link)))
            await link.untilStopped()
            order.append("withdrawn")
        }
        await #expect(throws: Mishap()) {
            try await peripheral.run(on: backend, logger: .silent) { _ in throw Mishap() }
        }
        #expect(order.entries == ["withdrawn"])
    }

    @Test func anErrorOfTheWithdrawalDoesNotHideTheOutput() async throws {
        let backend = ScriptedBackend { _, host in
            let link = RecordingLink()
            host.handle(.published(PublishedPeripheral(link: link)))
            await link.untilStopped()
            throw Self.brokenStack
        }
        #expect(try await peripheral.run(on: backend, logger: .silent) { _ in 42 } == 42)
    }

    @Test func theBodyDoesNotBeginWhenPublishingFails() async {
        let backend = ScriptedBackend { _, _ in throw Self.brokenStack }
        let error = await #expect(throws: PeripheralError.self) {
            try await peripheral.run(on: backend, logger: .silent) { _ in
                Issue.record("The body has begun.")
            }
        }
        #expect(error?.code == .connectionLost)
    }

    @Test func theBackendsErrorTellsMoreThanThatThePeripheralIsGone() async {
        let order = Log<String>()
        let backend = ScriptedBackend { _, host in
            let link = RecordingLink()
            host.handle(.published(PublishedPeripheral(link: link)))
            // The body has ended already when the backend says why.
            await link.untilStopped()
            order.append("stopped")
            throw Self.brokenStack
        }
        let error = await #expect(throws: PeripheralError.self) {
            try await peripheral.run(on: backend, logger: .silent) { _ in
                throw PeripheralError(code: .stopped, message: "The peripheral is gone.")
            }
        }
        #expect(order.entries == ["stopped"])
        #expect(error?.code == .connectionLost)
    }

    @Test func theBodyIsCancelledWhenTheBackendFails() async {
        let order = Log<String>()
        let backend = ScriptedBackend { _, host in
            host.handle(.published(PublishedPeripheral(link: RecordingLink())))
            await order.untilNotEmpty()
            throw Self.brokenStack
        }
        let error = await #expect(throws: PeripheralError.self) {
            try await peripheral.run(on: backend, logger: .silent) { session in
                order.append("begun")
                await untilCancelled()
                order.append("cancelled")
                do {
                    try await session.notify(level, 1)
                } catch let error as PeripheralError {
                    order.append("\(error.code)")
                }
            }
        }
        #expect(error?.code == .connectionLost)
        #expect(order.entries == ["begun", "cancelled", "stopped"])
    }

    @Test func whatIsCancelledBeforeItBeginsIsNotServed() async {
        let backend = ScriptedBackend { _, _ in Issue.record("it is served") }
        let run = Task { [peripheral] in
            withUnsafeCurrentTask { $0?.cancel() }
            try await peripheral.run(on: backend, logger: .silent) { _ in }
        }
        await #expect(throws: CancellationError.self) { try await run.value }
    }

    @Test func cancellationReachesBodyAndBackend() async {
        let order = Log<String>()
        let backend = ScriptedBackend { _, host in
            let link = RecordingLink()
            host.handle(.published(PublishedPeripheral(link: link)))
            await link.untilStopped()
            order.append("withdrawn")
        }
        let task = Task { [peripheral] in
            try await peripheral.run(on: backend, logger: .silent) { _ in
                order.append("begun")
                await untilCancelled()
                try Task.checkCancellation()
            }
        }
        await order.untilNotEmpty()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(order.entries == ["begun", "withdrawn"])
    }

    @Test func withoutABodyItRunsUntilCancelled() async {
        let published = Log<String>()
        let backend = ScriptedBackend { _, host in
            let link = RecordingLink()
            host.handle(.published(PublishedPeripheral(link: link)))
            published.append("published")
            await link.untilStopped()
        }
        let task = Task { [peripheral] in try await peripheral.run(on: backend, logger: .silent) }
        await published.untilNotEmpty()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func theSessionIsInvalidAfterwards() async throws {
        let backend = ScriptedBackend { _, host in
            let link = RecordingLink()
            host.handle(.published(PublishedPeripheral(link: link)))
            await link.untilStopped()
        }
        let session = try await peripheral.run(on: backend, logger: .silent) { $0 }
        let notifying = await #expect(throws: PeripheralError.self) { try await session.notify(level, 1) }
        #expect(notifying?.code == .stopped)
        let asking = #expect(throws: PeripheralError.self) { try !session.subscribers(of: level).isEmpty }
        #expect(asking?.code == .stopped)
    }
}

private func untilCancelled() async {
    for await _ in AsyncStream(Never.self, { _ in }) {}
}
