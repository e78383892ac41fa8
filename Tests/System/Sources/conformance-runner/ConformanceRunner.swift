import Glibc
import PeripheralBlueZ
import PeripheralCore
import PeripheralKit
import PeripheralTesting
import Synchronization

/// Runs the conformance suite against the real bluetoothd: the peripheral through `.bluez`, the central on
/// Bumble.
///
/// Started in the virtual machine of `Tests/System/rig`, with the path of `bumble_central.py` in the environment
/// variable `BUMBLE_CENTRAL`. Arguments are words that a scenario's name has to contain.
@main
struct ConformanceRunner {
    /// What the rig's radio gives to the adapter.
    private static let adapter = DeviceAddress("00:AA:01:00:00:42")

    static func main() async throws {
        guard let adapter, let program = getenv("BUMBLE_CENTRAL").map({ String(cString: $0) }) else {
            print("BUMBLE_CENTRAL is not set: it has to be the path of bumble_central.py.")
            exit(2)
        }
        let words = CommandLine.arguments.dropFirst().map { Substring($0) }
        let scenarios = ConformanceSuite.scenarios.filter { scenario in
            Set(words).isSubset(of: scenario.name.split(separator: " "))
        }
        let failures = Mutex(0)
        try await CentralPool.run(program) { pool in
            for scenario in scenarios {
                let start = ContinuousClock.now
                let failure = await failure(of: scenario, on: adapter, with: pool)
                let time = "\((ContinuousClock.now - start) / .seconds(1))".prefix(4)
                print(
                    "\(failure == nil ? "ok  " : "FAIL")  \(scenario.name) (\(time) s)\(failure.map { ": \($0)" } ?? "")"
                )
                fflush(nil)
                if failure != nil { failures.withLock { $0 += 1 } }
            }
        }
        let failed = failures.withLock { $0 }
        print("\(scenarios.count - failed) passed, \(failed) failed")
        exit(failed == 0 && !scenarios.isEmpty ? 0 : 1)
    }

    /// Runs a scenario within its time.
    private static func failure(
        of scenario: Scenario,
        on adapter: DeviceAddress,
        with pool: CentralPool
    ) async -> (any Error)? {
        await withTaskGroup(of: (any Error)?.self) { group in
            group.addTask {
                do {
                    try await scenario.run(on: .bluez) { peripheral in
                        BumbleCentral(of: peripheral, on: adapter) { try await pool.process(mtu: $0) }
                    }
                    return nil
                } catch {
                    return error
                }
            }
            group.addTask {
                try? await Task.sleep(for: .seconds(60))
                return TestCentralError(code: .timedOut, message: "The scenario did not end within 60 s.")
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
    }
}
