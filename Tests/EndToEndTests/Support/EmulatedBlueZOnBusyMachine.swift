import PeripheralEmulator
import TestSupport

/// Runs an emulated bluetoothd with time limits that are five times longer.
///
/// A configuration with another clock keeps that clock.
///
/// On a busy machine, bluetoothd's limit of five seconds for an answer would refuse requests. The tests of
/// this module call this function instead of the function of the emulator.
@discardableResult
func withEmulatedBlueZ<Output>(
    _ configuration: EmulatedBlueZ.Configuration = EmulatedBlueZ.Configuration(),
    _ body: (_ bluez: EmulatedBlueZ) async throws -> Output
) async throws -> Output {
    var configuration = configuration
    if configuration.clock is ContinuousClock { configuration.clock = SlowClock(by: 5) }
    return try await PeripheralEmulator.withEmulatedBlueZ(configuration, body)
}
