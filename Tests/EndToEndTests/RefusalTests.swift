import PeripheralBlueZ
import PeripheralDBus
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// What a central sees of the errors that BlueZ has no way to send.
@Suite(.timeLimit(.minutes(1)))
struct RefusalTests {
    private let power = Characteristic<Bool>(0x2A19, [.read, .write]) {
        Read { throw ATTError.outOfRange }
        Write { _ in throw ATTError.clientCharacteristicConfigurationImproperlyConfigured }
    }

    @Test(arguments: [BlueZVersion.v5_66, .v5_87])
    func errorsThatChangeAreLogged(version: BlueZVersion) async throws {
        let peripheral = Peripheral("Errors") { GATTService(.battery) { power } }
        let log = LogRecorder()
        try await withEmulatedBlueZ(.init(version: version)) { bluez in
            let backend = BlueZBackend(bus: .address(bluez.busAddress))
            try await peripheral.run(on: backend, logger: log.logger) { session in
                // Once in a run, whatever bluetoothd goes through.
                for _ in 0..<2 {
                    let central = bluez.central(for: peripheral)
                    try await central.connect()
                    let handle = try await central.locate(power).valueHandle
                    await #expect(throws: ATTError.unlikelyError) { try await central.read(power) }
                    // What is no Bool: the framework's own refusal, `valueNotAllowed`.
                    await #expect(throws: ATTError.unlikelyError) { try await central.write(handle, [2]) }
                    let error = await #expect(throws: ATTError.self) { try await central.write(power, true) }
                    #expect((error == .unlikelyError) == (version == .v5_66))
                    await bluez.killDaemon()
                    try await until { !session.state.isOnTheAir }
                    try await bluez.startDaemon()
                    try await until { session.state.isOnTheAir }
                }
            }
        }
        let codes = log.lines.filter { $0.hasPrefix("warning: BlueZ cannot send this ATT error") }
            .compactMap { $0.split(separator: ";").dropFirst().first }
        #expect(
            codes == [" out of range (0xff)", " value not allowed (0x13)"]
                + (version == .v5_66
                    ? [" client characteristic configuration improperly configured (0xfd)"] : [])
        )
    }
}
