import PeripheralEmulator
import TestSupport

/// Runs an emulated bluetoothd whose time limits are five times longer, unless the configuration has a clock
/// of its own.
///
/// On a busy machine, bluetoothd's limit of five seconds for an answer would refuse requests. The tests of this
/// module call this function instead of the emulator's.
@discardableResult
func withEmulatedBlueZ<Output>(
    _ configuration: EmulatedBlueZ.Configuration = EmulatedBlueZ.Configuration(),
    _ body: (_ bluez: EmulatedBlueZ) async throws -> Output
) async throws -> Output {
    var configuration = configuration
    if configuration.clock is ContinuousClock { configuration.clock = SlowClock(by: 5) }
    return try await PeripheralEmulator.withEmulatedBlueZ(configuration, body)
}
