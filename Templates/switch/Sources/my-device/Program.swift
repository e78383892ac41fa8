import MyDevicePeripheral
import PeripheralKit
import PeripheralTesting

/// The hardware of the switch, and what a virtual central does with `--emulated`.
struct Program: Sendable {
    // Turn your own hardware on and off here.
    private let device = SwitchService { isOn in print("The switch is turned \(isOn ? "on" : "off").") }

    var peripheral: Peripheral {
        // Show the passkey on the display of your device here.
        device.peripheral { passkey in
            print("The passkey is \(String(1_000_000 + passkey).dropFirst()).")
        }
    }

    func demonstrate(_ central: VirtualCentral) async throws {
        do {
            try await central.write(device.isOn, true)
        } catch {
            print("The central is refused before it has paired: \(error).")
        }
        // The person types on the phone the passkey that the device shows.
        try await central.pair(.enteringDisplayedPasskey)
        try await central.subscribe(to: device.isOn)
        try await central.write(device.isOn, true)
        print("The central is notified of \(try await central.nextUpdate(of: device.isOn)).")
    }
}
