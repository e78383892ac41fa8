import Logging
import PeripheralConformance
import PeripheralKit
import PeripheralTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct KnownDifferenceTests {
    private static let failing = Scenario("nothing is connected") {
        ScenarioRun(
            Peripheral("Empty") { GATTService(0x180F) { Characteristic<UInt8>(0x2A19, value: 1) } },
            mtu: nil
        ) {
            _,
            _ in
            throw ConformanceFailure(description: "It fails.")
        }
    }
    private static let passing = Scenario(failing.name) {
        ScenarioRun(failing.makeRun().peripheral, mtu: nil) { _, _ in }
    }
    private static let difference = KnownDifference(
        failing,
        in: .before(.v5_82),
        failure: "It fails.",
        reason: "It has to."
    )

    private func run(_ scenario: Scenario, as version: BlueZVersion) async throws -> KnownDifference? {
        let backend = InMemoryBackend()
        let silent = Logger(label: "silent") { _ in SwiftLogNoOpLogHandler() }
        return try await scenario.run(
            on: backend,
            as: version,
            knowing: [Self.difference],
            logger: silent
        ) { backend.makeCentral(of: $0) }
    }

    @Test func whatIsKnownToFailHasToFail() async throws {
        #expect(try await run(Self.failing, as: .v5_66)?.reason == "It has to.")
        await #expect(throws: ConformanceFailure.self) { try await run(Self.passing, as: .v5_66) }
    }

    @Test func whatIsNotKnownToFailHasToPass() async throws {
        #expect(try await run(Self.passing, as: .v5_82) == nil)
        await #expect(throws: ConformanceFailure(description: "It fails.")) {
            try await run(Self.failing, as: .v5_82)
        }
    }

    @Test func failuresOfAnotherKindAreNone() async throws {
        let other = Scenario(Self.failing.name) {
            ScenarioRun(Self.failing.makeRun().peripheral, mtu: nil) { _, _ in
                throw ConformanceFailure(description: "It fails otherwise.")
            }
        }
        await #expect(throws: ConformanceFailure(description: "It fails otherwise.")) {
            try await run(other, as: .v5_66)
        }
    }

    @Test(arguments: [
        (KnownDifference.Versions.all, "all", [true, true, true]),
        (.before(.v5_82), "before 5.82", [true, false, false]),
        (.from(.v5_82), "from 5.82", [false, true, true]),
        (.from(.v5_82, before: .v5_87), "from 5.82, before 5.87", [false, true, false]),
    ])
    func versionsAreToldApart(versions: KnownDifference.Versions, words: String, contained: [Bool]) {
        #expect([.v5_66, .v5_82, .v5_87].map(versions.contains) == contained)
        #expect(versions.description == words)
    }

    @Test func eachScenarioDiffersOnceAtMost() {
        let known = ConformanceSuite.knownDifferences
        let names = Set(ConformanceSuite.scenarios.map(\.name))
        #expect(known.allSatisfy { names.contains($0.scenario) })
        for version: BlueZVersion in [.v5_66, .v5_82, .v5_87] {
            let scenarios = known.filter { $0.versions.contains(version) }.map(\.scenario)
            #expect(Set(scenarios).count == scenarios.count)
        }
    }
}
