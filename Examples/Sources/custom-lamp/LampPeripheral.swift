import PeripheralKit

/// The lamp of README.md: a custom service that is not in any specification.
///
/// ```swift
/// let lamp = LampPeripheral("Lamp", lamp: Lamp(), display: Display())
/// try await lamp.peripheral.run(on: .bluez) { session in try await lamp.serve(session) }
/// ```
struct LampPeripheral {
    let power: Characteristic<Bool>
    let peripheral: Peripheral
    private let lamp: Lamp

    init(_ name: String, lamp: Lamp, display: Display) {
        let power = Characteristic<Bool>(
            "5c3a0002-7e3c-4b6e-9d29-b3f1c0a1d001",
            [.read, .write, .notify],
            security: .authenticated
        ) {
            Read { await lamp.isOn }
            Write { isOn in await lamp.set(isOn) }
            UserDescription("Lamp power")
        }
        let pairing = Pairing.displayPasskey { passkey, _ in await display.show(passkey) }
        peripheral = Peripheral(name, pairing: pairing) {
            GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001") { power }
            Advertisement(manufacturerData: [0x0059: [1, 2]])  // left out: derived from the services
        }
        self.power = power
        self.lamp = lamp
    }

    /// Notifies all subscribers each time the lamp changes.
    func serve(_ session: PeripheralSession) async throws {
        for await isOn in lamp.changes {
            try await session.notify(power, isOn)
        }
    }
}
