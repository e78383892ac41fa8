internal import PeripheralBlueZ
package import PeripheralEmulator

extension RunOptions {
    /// Runs the emulated Bluetooth stack of `--emulated`, and prints a line about it.
    package func withEmulatedBluetooth(_ body: (_ bluez: EmulatedBlueZ) async throws -> Void) async throws {
        let version = try emulated.map { try BlueZVersion(imitated: $0) }
        Terminal.print("Bluetooth is emulated. No adapter and no phone are needed.")
        try await withEmulatedBlueZ(.init(version: version ?? .v5_66)) { try await body($0) }
    }
}
