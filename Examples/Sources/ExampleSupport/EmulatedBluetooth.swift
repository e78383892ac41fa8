package import PeripheralEmulator

/// Runs an emulated Bluetooth stack for an example with `--emulated`, and prints a line about it.
package func withEmulatedBluetooth(_ body: (_ bluez: EmulatedBlueZ) async throws -> Void) async throws {
    Terminal.print("Bluetooth is emulated. No adapter and no phone are needed.")
    try await withEmulatedBlueZ { try await body($0) }
}
