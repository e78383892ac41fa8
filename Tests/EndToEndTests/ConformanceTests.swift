import Logging
import PeripheralEmulator
import PeripheralTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ConformanceTests {
    @Test(arguments: ConformanceSuite.scenarios, [EmulatedAdapter.Kind.extended, .legacy])
    func emulatedBlueZ(scenario: Scenario, kind: EmulatedAdapter.Kind) async throws {
        let configuration = EmulatedBlueZ.Configuration(adapters: [EmulatedAdapter(kind: kind)])
        try await withEmulatedBlueZ(configuration) { bluez in
            try await scenario.run(on: bluez.backend, as: .v5_66, logger: .silent, clock: ManualClock()) {
                peripheral in
                bluez.central(for: peripheral)
            }
        }
    }
}
