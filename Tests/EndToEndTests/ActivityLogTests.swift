import Logging
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// When the peripheral goes on the air and off, with the reason.
@Suite(.timeLimit(.minutes(1)))
struct ActivityLogTests {
    private let log = LogRecorder(from: .info)

    private var lines: [String] { log.lines.filter { $0.hasPrefix("info: ") } }

    private let onTheAir = "info: The peripheral is on the air. [Battery]"
    private let offTheAir = "info: The peripheral is off the air. [Battery; "

    @Test(arguments: [EmulatedBlueZ.Configuration(version: .v5_66), .init(version: .v5_87)])
    func stateIsLoggedWithTheReason(daemon: EmulatedBlueZ.Configuration) async throws {
        let battery = Peripheral("Battery") {
            GATTService(.battery) { Characteristic<UInt8>(0x2A19, value: 50) }
        }
        let clock = ManualClock()
        try await withEmulatedBlueZ(daemon) { bluez in
            try await battery.run(on: bluez.backend(clock: clock), logger: log.logger) { session in
                func untilLines(_ count: Int) async throws {
                    try await until {
                        clock.advance(by: .seconds(10))
                        return lines.count >= count
                    }
                }
                #expect(lines == [onTheAir])
                await bluez.setPowered(false)
                try await untilLines(2)
                await bluez.setPowered(true)
                try await untilLines(3)
                await bluez.killDaemon()
                try await untilLines(4)
                try await bluez.startDaemon()
                try await untilLines(5)
                try await until { session.state.isOnTheAir }
            }
        }
        let reasons = lines.map { line in
            line.hasPrefix(offTheAir) ? String(line.dropFirst(offTheAir.count).prefix(14)) : line
        }
        #expect(
            reasons == [onTheAir, "The Bluetooth ", onTheAir, "bluetoothd has", onTheAir, "The run has en"],
            "\(log.lines)"
        )
    }
}
