import PeripheralEmulator
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct RepeatedRunsTests {
    /// The backend still has something to do a moment after a central has left; the run ends before.
    @Test func runsThatEndAsTheirCentralLeavesLeaveNoFileOpen() async throws {
        // Where nothing else opens files.
        await #expect(processExitsWith: .success) {
            try await withEmulatedBlueZ { bluez in
                try await ProvisioningRuns.run(10, on: bluez)
                let early = Usage.now
                try await ProvisioningRuns.run(40, on: bluez)
                // One for each run would be 40. The bus takes its time to see that others have left.
                let limit = ContinuousClock.now + .seconds(10)
                try await until { Usage.now.descriptors < early.descriptors + 10 || .now > limit }
                try #require(Usage.now.descriptors < early.descriptors + 10)
            }
        }
    }
}
