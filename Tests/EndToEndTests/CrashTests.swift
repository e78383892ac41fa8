import Glibc
import PeripheralConformance
import PeripheralEmulator
import PeripheralTesting
import TestSupport
import Testing

/// A program that is killed at any instant while a central uses it over an emulated bluetoothd.
@Suite(.timeLimit(.minutes(5)))
struct CrashTests {
    @Test(arguments: [BlueZVersion.v5_66, .v5_87])
    func whatIsRestoredWasTrue(version: BlueZVersion) async throws {
        try await kill(rounds: 10, on: version, seed: 20)
    }
}

/// Kills a program so often, and expects each start to restore what was true.
func kill(rounds: Int, on version: BlueZVersion, seed: UInt64) async throws {
    var template = Array("/tmp/peripheral-kills-XXXXXX".utf8CString)
    let directory = try #require(mkdtemp(&template).map { String(cString: $0) })
    defer { removeAll(in: directory) }
    let helper = try HelperProcess.path(of: "crash-test-helper")
    let interval = 50
    let outcome = try await withEmulatedBlueZ(EmulatedBlueZ.Configuration(version: version)) { bluez in
        let twin = CrashTestPeripheral()
        let test = CrashTest(seed: seed, savingEvery: .milliseconds(interval))
        let central = bluez.central(for: twin.peripheral, patience: .seconds(20))
        let address = bluez.busAddress
        return await test.run(rounds: rounds, of: twin, with: central) {
            try CrashTestProcess(path: helper, arguments: [address, directory, "\(interval)"])
        }
    }
    print("BlueZ \(version), seed \(seed): \(outcome)")
    #expect(outcome.failures == [])
    #expect(outcome.troubles == [])
    #expect(outcome.kills == rounds && outcome.changes > rounds && outcome.updates > 0)
    // Of a few, chance decides, and whatever else the machine does.
    guard outcome.agesAfterLongUse.count >= 10, let age = outcome.typicalAge else { return }
    #expect(age <= .milliseconds(2 * interval))
}

private func removeAll(in path: String) {
    guard let listing = opendir(path) else { return }
    while let entry = readdir(listing) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
            name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != ".", name != ".." { unlink("\(path)/\(name)") }
    }
    closedir(listing)
    rmdir(path)
}
