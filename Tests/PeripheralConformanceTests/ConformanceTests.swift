import Logging
import PeripheralConformance
import PeripheralTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ConformanceTests {
    @Test(arguments: ConformanceSuite.scenarios)
    func inMemory(scenario: Scenario) async throws {
        let backend = InMemoryBackend()
        let silent = Logger(label: "silent") { _ in SwiftLogNoOpLogHandler() }
        try await scenario.run(
            on: backend,
            logger: silent,
            clock: ManualClock()
        ) { peripheral in
            backend.makeCentral(of: peripheral)
        }
    }

    @Test(arguments: AdvertisingDeclaration.all)
    func advertisementInMemory(declaration: AdvertisingDeclaration) async throws {
        let backend = InMemoryBackend()
        try await declaration.check(on: backend, for: .extended) { peripheral in
            backend.makeCentral(of: peripheral)
        }
    }

    @Test func everyScenarioHasItsOwnName() {
        let names = ConformanceSuite.scenarios.map(\.name)
        #expect(Set(names).count == names.count)
    }
}
