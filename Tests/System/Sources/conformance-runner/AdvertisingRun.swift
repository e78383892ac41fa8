import Glibc
import PeripheralBlueZ
import PeripheralConformance
import PeripheralKit
import PeripheralTesting
import Synchronization

/// Compares what is on the air with the plans, for each declaration.
struct AdvertisingRun {
    private let capabilities: AdvertisingCapabilities
    private let adapter: DeviceAddress

    /// Prepares a run on an adapter of the rig.
    init(_ version: BlueZVersion, _ isExtended: Bool, _ adapter: DeviceAddress) {
        var capabilities = AdvertisingCapabilities(version: version, isExtended: isExtended)
        capabilities.adapterName = "BlueZ \(version)"
        self.capabilities = capabilities
        self.adapter = adapter
    }

    /// Runs all declarations; returns whether each is on the air as its plan says.
    func run(_ program: String) async throws -> Bool {
        let failures = Mutex(0)
        try await CentralPool.run(program) { pool in
            for declaration in AdvertisingDeclaration.all {
                do {
                    let plan = try await declaration.check(on: .bluez(recovery: .never), for: capabilities) {
                        peripheral in
                        BumbleCentral(of: peripheral, on: adapter, from: pool)
                    }
                    print(
                        "ok    \(declaration): \(plan.isPossible ? "on the air as planned" : "refused as planned")"
                    )
                } catch {
                    print("FAIL  \(declaration): \(error)")
                    failures.withLock { $0 += 1 }
                }
                fflush(nil)
            }
        }
        let failed = failures.withLock { $0 }
        print("\(AdvertisingDeclaration.all.count - failed) passed, \(failed) failed")
        return failed == 0
    }
}
