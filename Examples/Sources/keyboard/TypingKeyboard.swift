import ExampleSupport
import PeripheralBattery
import PeripheralDeviceInformation
import PeripheralHID
import PeripheralKit

/// The declaration of the keyboard, and the typing.
struct TypingKeyboard {
    let keyboard: HIDKeyboard
    let peripheral: Peripheral

    init(name: String) {
        let keyboard = HIDKeyboard { leds, _ in
            Terminal.print("keyboard: caps lock is \(leds.contains(.capsLock) ? "on" : "off")")
        }
        self.keyboard = keyboard
        // The HID over GATT profile requires a battery, a PnP ID, and paired hosts.
        peripheral = Peripheral(name, pairing: .justWorks) {
            keyboard
            BatteryService(level: BatteryLevel(100))
            DeviceInformationService(pnpID: PnPID(vendor: .usb(0x1D6B), product: 0x0246, version: 0x0100))
            Advertisement(appearance: 0x03C1)  // keyboard
        }
    }

    /// Types each line with a line end, as soon as a host subscribes, until the session ends.
    ///
    /// Each key waits only until the host has received the previous one.
    func type(_ lines: AsyncStream<String>, over session: PeripheralSession) async throws {
        for await line in lines {
            try await waitForHost(session)
            do {
                try await keyboard.type(line + "\n", in: session)
            } catch let error as UntypableCharacter {
                Terminal.print("keyboard: \(error)")
            }
        }
        // The host may still change the lamps.
        for await _ in session.events {}
    }

    private func waitForHost(_ session: PeripheralSession) async throws {
        if try !session.subscribers(of: keyboard.keys.value).isEmpty { return }
        Terminal.print("keyboard: waits until a host has paired and subscribed")
        try await session.waitForSubscriber(of: keyboard.keys.value)
        // The host needs time to create an input device from the report map.
        try await Task.sleep(for: .seconds(1))
    }
}
