import PeripheralCore
import PeripheralTesting
import Synchronization
import TestSupport
import Testing

@testable import PeripheralKit

/// What is preserved of a peripheral whose run is cancelled, as by a program that is asked to end.
@Suite(.timeLimit(.minutes(1)))
final class CancelledRunTests: Sendable {
    private static let identifier = "com.example.cancelled"
    private static let handle: AttributeHandle = 3

    private let level = Characteristic<UInt8>(0x2A19, [.read, .notify], updates: .durable) { Read { 7 } }
    private let bonded = Central(address: .numbered(1), isBonded: true)
    private let temporary = Central(address: .numbered(2))
    private let store = InMemoryRestorationStore()

    /// Cancels the run when both centrals have subscribed and the body has ended.
    ///
    /// Returns the preserved state.
    private func cancel(
        _ body: @escaping @Sendable (PeripheralSession, RecordingLink) async throws -> Void
    ) async throws -> PreservedState {
        let peripheral = Peripheral("Cancelled", restorationIdentifier: Self.identifier) {
            GATTService(.battery) { level }
        }
        let link = RecordingLink()
        link.bonds.withLock { $0 = [bonded] }
        let (steps, step) = AsyncStream.makeStream(of: Void.self)
        let run = Task { [self] in
            try await peripheral.run(by: link, restoringFrom: store) { [self] session, host in
                for central in [bonded, temporary] {
                    host.handle(.connected(central))
                    host.handle(
                        .subscribed(BackendSubscription(characteristic: Self.handle, central: central))
                    )
                }
                try await body(session, link)
                step.finish()
                // It ends later than the stack withdraws the services.
                let states = peripheral.states
                await Task { for await state in states where !state.isRegistered { break } }.value
            }
        }
        for await _ in steps {}
        run.cancel()
        try await run.value
        return try PreservedState(decoding: try #require(store[Self.identifier]))
    }

    @Test func whoHadSubscribedStaysPreserved() async throws {
        let state = try await cancel { _, _ in }
        #expect(state.subscribers.map(\.address) == [bonded.address, temporary.address])
    }

    /// What had not left is not tried again and again by a task that is cancelled, which would never end.
    @Test func whatHasNotLeftStaysPreserved() async throws {
        let state = try await cancel { [level] session, link async throws in
            #expect(try session.update(level, 1))
            _ = await link.next()
            _ = await link.next()
        }
        #expect(state.updates.map(\.address) == [bonded.address, temporary.address])
    }
}
