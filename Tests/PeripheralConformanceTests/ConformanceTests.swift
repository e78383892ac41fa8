import Logging
import PeripheralConformance
import PeripheralKit
import PeripheralTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ConformanceTests {
    private static let silent = Logger(label: "silent") { _ in SwiftLogNoOpLogHandler() }

    @Test(arguments: ConformanceSuite.scenarios)
    func inMemory(scenario: Scenario) async throws {
        let backend = InMemoryBackend(as: .specification)
        try await scenario.run(on: backend, logger: Self.silent, clock: ManualClock()) { peripheral in
            backend.makeCentral(of: peripheral)
        }
    }

    /// The differences of BlueZ 5.66 that the stack in memory imitates.
    ///
    /// It reports the end of each subscription, and sends each value only to proven links.
    private static let differences = ConformanceSuite.knownDifferences.filter { difference in
        !difference.endsDaemon
            && [
                "ATT error", "0x0d", "\(PeripheralError.Code.notAddressable)", "response: expected",
                "interval: expected",
            ]
            .contains { difference.failure.contains($0) }
    }

    @Test(arguments: ConformanceSuite.scenarios)
    func inMemoryAsBlueZ(scenario: Scenario) async throws {
        let backend = InMemoryBackend()
        try await scenario.run(
            on: backend,
            as: "5.66",
            knowing: Self.differences,
            logger: Self.silent,
            clock: ManualClock()
        ) { peripheral in
            backend.makeCentral(of: peripheral)
        }
    }

    @Test(arguments: AdvertisingDeclaration.all)
    func advertisementInMemory(declaration: AdvertisingDeclaration) async throws {
        for (stack, version) in [(.specification, .v5_87), (.bluez(.v5_66), .v5_66)] as [Imitation] {
            let backend = InMemoryBackend(as: stack)
            try await declaration.check(on: backend, for: .extended(version)) { peripheral in
                backend.makeCentral(of: peripheral)
            }
        }
    }

    /// A stack, and the version whose advertisements it has.
    private typealias Imitation = (stack: InMemoryStack, version: BlueZVersion)

    @Test func everyScenarioHasItsOwnName() {
        let names = ConformanceSuite.scenarios.map(\.name)
        #expect(Set(names).count == names.count)
    }
}
