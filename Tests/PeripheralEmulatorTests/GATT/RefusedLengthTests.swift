import PeripheralCore
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// Writes that bluetoothd refuses because of their length, without asking the program.
@Suite(.timeLimit(.minutes(1)))
struct RefusedLengthTests {
    private static let cases: [(version: BlueZVersion, length: Int, mtu: Int, explanation: String?)] = [
        ("5.66", 510, 517, nil),
        ("5.66", 512, 517, "BlueZ 5.66 has refused a written value of 512 bytes for"),
        ("5.66", 600, 517, "BlueZ 5.66 has refused a written value of 512 bytes or more"),
        ("5.66", 600, 23, "BlueZ 5.66 has refused a written value of 522 bytes or more"),
        ("5.87", 512, 517, nil),
        ("5.87", 600, 517, "BlueZ 5.87 has refused a written value of 600 bytes or more"),
    ]

    /// The real bluetoothd is silent, so only the log of the emulated one helps the developer.
    @Test(arguments: cases)
    func theLogNamesTheCharacteristicAndTheLimit(
        version: BlueZVersion,
        length: Int,
        mtu: Int,
        explanation: String?
    ) async throws {
        let value = Characteristic<[UInt8]>(0x2A6E, .write) { Write { _ in } }
        let peripheral = Peripheral("P") { GATTService(0x181A) { value } }
        let log = LogRecorder()
        let configuration = EmulatedBlueZ.Configuration(version: version, logger: log.logger)
        try await withEmulatedBlueZ(configuration) { bluez in
            try await peripheral.run(on: bluez.backend, logger: .silent) { _ in
                let central = bluez.central(for: peripheral)
                try await central.connect(mtu: mtu)
                let bytes = [UInt8](repeating: 7, count: length)
                guard let explanation else { return try await central.write(value, bytes) }
                await #expect(throws: ATTError.invalidAttributeValueLength) {
                    try await central.write(value, bytes)
                }
                try await until { !log.lines.isEmpty }
                #expect(log.lines.first?.hasPrefix("warning: \(explanation)") == true, "\(log.lines)")
                #expect(log.lines.first?.contains("for characteristic 2a6e of service 181a") == true)
                #expect(log.lines.first?.contains("accepts at most") == true)
            }
        }
        #expect(log.lines.count == (explanation == nil ? 0 : 1))
    }
}
