package import PeripheralKit

/// The service of a switch that only paired centrals can use.
///
/// It has its own UUIDs, which are generated for each package.
package struct SwitchService: GATTServiceDeclaration {
    /// Whether the switch is on.
    ///
    /// A central pairs with the passkey before it can read, change or subscribe. The value is preserved when
    /// the program ends.
    package let isOn = Characteristic<Bool>(
        "5c3a0002-7e3c-4b6e-9d29-b3f1c0a1d001",
        [.read, .write, .notify],
        security: .authenticated,
        updates: .latest
    )
    /// The error for a switch that cannot be turned now.
    ///
    /// A service can use 0x80 to 0x9F for its own errors. `BlueZBackend` lists the other errors that BlueZ
    /// can send.
    package static let blocked = ATTError.application(.x80)

    private let turn: @Sendable (_ isOn: Bool) async throws -> Void

    /// Declares the service.
    ///
    /// - Parameter turn: Turns the hardware on or off. Throwing ``blocked`` refuses the central's request,
    ///   and the value stays.
    package init(turn: @escaping @Sendable (_ isOn: Bool) async throws -> Void) {
        self.turn = turn
    }

    /// The service that centrals find.
    package var service: GATTService {
        GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001") {
            isOn {
                // Each new value is sent to the subscribers, too.
                PersistentValue(initially: false) { isOn in try await turn(isOn) }
                UserDescription("Switch")
            }
        }
    }
}

extension SwitchService {
    /// Returns the peripheral that centrals find.
    ///
    /// - Parameter showPasskey: Shows the passkey, as six digits, to the person who pairs a phone.
    /// - Returns: The peripheral.
    package func peripheral(
        showPasskey: @escaping @Sendable (_ passkey: UInt32) async -> Void
    ) -> Peripheral {
        let pairing = Pairing.displayPasskey { passkey, _ in await showPasskey(passkey) }
        return Peripheral("my-device", restorationIdentifier: "my-device", pairing: pairing) {
            self
        } onRestore: { restored in
            // This does not run in the first run, which has nothing to restore. Later, the hardware may
            // differ from the preserved value, for example after a loss of power. If the value could not be
            // restored, the switch is off, as its initial value says. An error would end the run, and the
            // program would be started again and again.
            do {
                try await turn(restored.value(of: isOn) ?? false)
            } catch {
                print("The switch cannot be turned as it was: \(error)")
            }
        }
    }
}
