import Glibc
import Logging
import PeripheralConformance
import PeripheralEmulator
import PeripheralServiceConformance
import PeripheralTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2)))
struct ConformanceTests {
    /// The clock of the backend and the central, as slow as bluetoothd's.
    ///
    /// On a busy machine, the backend's limit of one second for confirmations would end too early.
    private static let clock = SlowClock(by: 5)

    private static let daemons = [
        EmulatedBlueZ.Configuration(
            version: .v5_66,
            adapters: [EmulatedAdapter(kind: .legacy)],
            asksBeforeRepairing: true
        ),
        EmulatedBlueZ.Configuration(version: .v5_66, asksBeforeRepairing: true),
        EmulatedBlueZ.Configuration(version: .v5_82, asksBeforeRepairing: true),
        EmulatedBlueZ.Configuration(version: .v5_87, asksBeforeRepairing: true),
    ]

    /// The emulated bluetoothd crashes only by what is confirmed too late.
    private static let differences =
        ConformanceSuite.knownDifferences.filter { !$0.endsDaemon }
        + ConformanceSuite.daemonEndsByConfirmation

    /// The ways to subscribers have changed in 5.69, 5.76 and 5.80.
    private static let daemonsBetween = [
        EmulatedBlueZ.Configuration(version: "5.72"),
        EmulatedBlueZ.Configuration(version: "5.78"),
    ]

    /// Returns each scenario with each version.
    ///
    /// Under the thread sanitizer, which is slow, each scenario runs with one version: the oldest and the
    /// newest version take turns.
    private static func runs(of scenarios: [Scenario]) -> [(Scenario, EmulatedBlueZ.Configuration)] {
        guard getenv("PERIPHERAL_FEWER_VERSIONS") == nil else {
            return scenarios.enumerated().map { ($1, daemons[$0.isMultiple(of: 2) ? 0 : 3]) }
        }
        return scenarios.flatMap { scenario in daemons.map { (scenario, $0) } }
    }

    @Test(arguments: runs(of: ConformanceSuite.scenarios))
    func emulatedBlueZ(scenario: Scenario, daemon: EmulatedBlueZ.Configuration) async throws {
        try await run(scenario, on: daemon)
    }

    @Test(arguments: ConformanceSuite.scenariosOfUpdates, daemonsBetween)
    func emulatedBlueZBetween(scenario: Scenario, daemon: EmulatedBlueZ.Configuration) async throws {
        try await run(scenario, on: daemon)
    }

    @Test(arguments: runs(of: ServiceConformance.scenarios))
    func servicesOnEmulatedBlueZ(scenario: Scenario, daemon: EmulatedBlueZ.Configuration) async throws {
        try await run(scenario, on: daemon)
    }

    private func run(_ scenario: Scenario, on daemon: EmulatedBlueZ.Configuration) async throws {
        var daemon = daemon
        daemon.logger = .silent
        try await withEmulatedBlueZ(daemon) { [version = daemon.version] bluez in
            try await scenario.run(
                on: bluez.backend(clock: Self.clock),
                as: version,
                knowing: Self.differences,
                logger: .silent,
                clock: ManualClock()
            ) { peripheral in
                bluez.central(for: peripheral, clock: Self.clock)
            }
        }
    }
}
