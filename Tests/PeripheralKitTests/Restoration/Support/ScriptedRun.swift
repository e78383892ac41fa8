import PeripheralCore
import PeripheralTesting

@testable import PeripheralKit

extension Peripheral {
    /// Runs on a stack whose events the test creates.
    ///
    /// The run saves as often as it can.
    ///
    /// - Parameters:
    ///   - link: What takes the updates; the peripheral is on the air until it is stopped.
    ///   - adapter: The adapter that the peripheral is on.
    ///   - store: Where the state is preserved.
    ///   - clock: What measures the time until something is tried again.
    ///   - body: The program; it also receives the host, to which the test reports events.
    /// - Throws: What the body does, or the run.
    func run(
        by link: RecordingLink,
        on adapter: DeviceAddress? = nil,
        restoringFrom store: InMemoryRestorationStore,
        clock: any Clock<Duration> = ContinuousClock(),
        _ body: @escaping @Sendable (PeripheralSession, any PeripheralHost) async throws -> Void
    ) async throws {
        let (hosts, host) = AsyncStream.makeStream(of: (any PeripheralHost).self)
        let backend = ScriptedBackend { _, served in
            served.handle(.published(PublishedPeripheral(link: link, adapter: adapter)))
            host.yield(served)
            await link.untilStopped()
            // As BlueZ does when it is withdrawn.
            served.handle(.suspended)
        }
        try await run(
            on: backend,
            restoringFrom: store,
            savingEvery: .zero,
            logger: .silent,
            clock: clock
        ) { session in
            for await host in hosts { return try await body(session, host) }
        }
    }
}
