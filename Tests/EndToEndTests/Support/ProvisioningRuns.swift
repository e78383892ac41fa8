import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport

/// What a program does that is there to be set up: it runs a peripheral, until a central has come and gone.
enum ProvisioningRuns {
    static func run(_ count: Int, on bluez: EmulatedBlueZ) async throws {
        let value = Characteristic<UInt8>(0x2A19, value: 99)
        let peripheral = Peripheral("Phoenix") { GATTService(.battery) { value } }
        for _ in 0..<count {
            try await peripheral.run(on: bluez.backend, logger: .silent) { session in
                var events = session.events.makeAsyncIterator()
                let central = bluez.central(for: peripheral)
                try await central.connect()
                while session.centrals.isEmpty { _ = try await events.next() }
                central.disconnect()
                while !session.centrals.isEmpty { _ = try await events.next() }
            }
        }
    }
}
