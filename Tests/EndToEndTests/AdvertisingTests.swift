import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import Testing

/// What is on the air equals the plan, byte by byte: the emulated daemons compose it without the plan's help.
@Suite(.timeLimit(.minutes(2)))
struct AdvertisingTests {
    static let adapters: [AdvertisingCapabilities] =
        (["5.66", "5.87"] as [BlueZVersion]).map { .legacy($0) }
        + (["5.66", "5.70", "5.76", "5.79", "5.82", "5.87"] as [BlueZVersion]).map { .extended($0) }

    @Test(arguments: adapters)
    func emulatedBlueZ(adapter: AdvertisingCapabilities) async throws {
        let daemon = EmulatedBlueZ.Configuration(
            version: adapter.version,
            adapters: [EmulatedAdapter(kind: adapter.isExtended ? .extended : .legacy)]
        )
        var capabilities = adapter
        capabilities.adapterName = daemon.deviceName
        // One bus for all, since there are many.
        try await withEmulatedBlueZ(daemon) { bluez in
            for declaration in AdvertisingDeclaration.all {
                do {
                    try await declaration.check(on: bluez.backend, for: capabilities) { peripheral in
                        bluez.central(for: peripheral)
                    }
                } catch {
                    Issue.record("\(declaration): \(error)")
                }
            }
        }
    }

    @Test func declarationsHaveNamesOfTheirOwn() {
        #expect(Set(AdvertisingDeclaration.all.map(\.name)).count == AdvertisingDeclaration.all.count)
    }
}
