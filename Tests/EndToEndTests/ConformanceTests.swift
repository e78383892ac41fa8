import Logging
import PeripheralEmulator
import PeripheralTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ConformanceTests {
    @Test(arguments: ConformanceSuite.scenarios)
    func emulatedBlueZ(scenario: Scenario) async throws {
        try await withEmulatedBlueZ { bluez in
            try await scenario.run(on: bluez.backend, as: .v5_66, logger: .silent) { peripheral in
                bluez.central(for: peripheral)
            }
        }
    }
}
