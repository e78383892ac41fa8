import PeripheralKit
import Testing

@testable import PeripheralTesting

@Suite(.timeLimit(.minutes(1)))
struct LostConnectionTests {
    @Test func aLostConnectionCanBeReplaced() async throws {
        let fixture = try ServerFixture(.read, provider: RecordingProvider(value: [7]))
        let central = VirtualCentral(
            of: Peripheral("Lamp") {},
            on: fixture.server,
            patience: .seconds(5),
            clock: ManualClock()
        )
        try await central.connect()
        fixture.server.disconnectAll()
        await expectDisconnected { try await central.discover() }
        await expectDisconnected { try await central.read(0x0017, offset: 0) }
        await expectDisconnected { try await central.nextUpdate(of: 0x0017) }
        try await central.connect()
        #expect(try await central.read(0x0017, offset: 0) == [7])
    }

    private func expectDisconnected<Output>(
        sourceLocation: SourceLocation = #_sourceLocation,
        _ operation: () async throws -> Output
    ) async {
        let error = await #expect(throws: TestCentralError.self, sourceLocation: sourceLocation) {
            _ = try await operation()
        }
        #expect(error?.code == .disconnected, sourceLocation: sourceLocation)
    }
}
