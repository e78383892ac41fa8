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

    /// Under the thread sanitizer, which is slow, only the oldest and the newest version.
    ///
    /// ``daemonsBetween`` runs there too. `make test` runs all versions.
    private static let daemons = getenv("PERIPHERAL_FEWER_VERSIONS") == nil ? all : [all[0], all[3]]

    private static let all = [
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

    @Test(arguments: ConformanceSuite.scenarios, daemons)
    func emulatedBlueZ(scenario: Scenario, daemon: EmulatedBlueZ.Configuration) async throws {
        try await run(scenario, on: daemon)
    }

    @Test(arguments: ConformanceSuite.scenariosOfUpdates, daemonsBetween)
    func emulatedBlueZBetween(scenario: Scenario, daemon: EmulatedBlueZ.Configuration) async throws {
        try await run(scenario, on: daemon)
    }

    @Test(arguments: ServiceConformance.scenarios, daemons)
    func servicesOnEmulatedBlueZ(scenario: Scenario, daemon: EmulatedBlueZ.Configuration) async throws {
        try await run(scenario, on: daemon)
    }

    private func run(_ scenario: Scenario, on daemon: EmulatedBlueZ.Configuration) async throws {
        try await withEmulatedBlueZ(daemon) { bluez in
            try await scenario.run(
                on: bluez.backend(clock: Self.clock),
                as: daemon.version,
                knowing: Self.differences,
                logger: .silent,
                clock: ManualClock()
            ) { peripheral in
                bluez.central(for: peripheral, clock: Self.clock)
            }
        }
    }
}
