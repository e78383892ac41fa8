import PeripheralServiceConformance
import PeripheralTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ServiceConformanceTests {
    @Test(arguments: ServiceConformance.scenarios)
    func inMemory(scenario: Scenario) async throws {
        let backend = InMemoryBackend()
        try await scenario.run(on: backend, logger: .silent, clock: ManualClock()) { peripheral in
            backend.makeCentral(of: peripheral)
        }
    }

    @Test func everyScenarioHasItsOwnName() {
        let names = ServiceConformance.scenarios.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(Set(names).isDisjoint(with: ConformanceSuite.scenarios.map(\.name)))
    }
}
