import PeripheralKit

/// The lamp of README.md: a custom service that is not in any specification.
///
/// ```swift
/// let lamp = LampService(lamp: Lamp())
/// let pairing = Pairing.displayPasskey { passkey, _ in await display.show(passkey) }
/// let peripheral = Peripheral("Lamp", pairing: pairing) { lamp }
/// try await peripheral.run(on: .bluez)
/// ```
struct LampService: GATTServiceDeclaration {
    let power = Characteristic<Bool>(
        "5c3a0002-7e3c-4b6e-9d29-b3f1c0a1d001",
        [.read, .write, .notify],
        security: .authenticated
    )
    let lamp: Lamp

    var service: GATTService {
        GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001") {
            power {
                Read { await lamp.isOn }
                Write { isOn in await lamp.set(isOn) }
                UserDescription("Lamp power")
            }
        }
    }

    /// Notifies all subscribers each time the lamp changes.
    func run(in session: PeripheralSession) async throws {
        for await isOn in lamp.changes {
            try await session.notify(power, isOn)
        }
    }
}
