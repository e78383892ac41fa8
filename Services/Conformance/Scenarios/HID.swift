internal import PeripheralConformance
internal import PeripheralHID
internal import PeripheralKit
internal import PeripheralTesting

extension ServiceConformance {
    static let hid = [hidKeyboard, hidBootKeyboard, hidGamepad]

    private static let hidKeyboard = Scenario(
        "HID: a paired host reads the report map, and receives typed keys"
    ) {
        let lamps = Recorder<KeyboardLEDs>()
        let keyboard = HIDKeyboard { leds, _ in lamps.record(leds) }
        return ScenarioRun(Peripheral("Keyboard", pairing: .justWorks) { keyboard }) { central, session in
            try await central.pair(.justWorks)
            let map = try await central.read(keyboard.hid.reportMap)
            try expect("start of the map", Array(map.prefix(6)), is: [0x05, 0x01, 0x09, 0x06, 0xA1, 0x01])
            let reference = try await central.read(.reportReference, of: keyboard.leds.value)
            try expect("reference", reference, is: [1, 2])
            try await central.subscribe(to: keyboard.keys.value, knownTo: session)
            try await keyboard.type("Hi", in: session)
            for report: [UInt8] in [[2, 0, 0x0B], [0, 0, 0], [0, 0, 0x0C], [0, 0, 0]] {
                let received = try await central.nextUpdate(of: keyboard.keys.value)
                try expect("report", received, is: report + [0, 0, 0, 0, 0])
            }
            try await central.writeWithoutResponse(keyboard.leds.value, [0x02])
            try expect("lamps", try await lamps.next(), is: .capsLock)
        }
    }

    private static let hidBootKeyboard = Scenario("HID: a host chooses the boot protocol") {
        let keyboard = HIDKeyboard()
        return ScenarioRun(Peripheral("Keyboard", pairing: .justWorks) { keyboard }) { central, _ in
            try await central.pair(.justWorks)
            let mode = try present(keyboard.hid.protocolMode)
            try expect("mode", try await central.read(mode), is: .report)
            try await central.writeWithoutResponse(mode, .boot)
            try expect("mode", try await central.read(mode), is: .boot)
        }
    }

    private static let hidGamepad = Scenario("HID: a gamepad sends its state") {
        let gamepad = HIDGamepad()
        return ScenarioRun(Peripheral("Gamepad", pairing: .justWorks) { gamepad }) { central, session in
            try await central.pair(.justWorks)
            try await central.subscribe(to: gamepad.report.value, knownTo: session)
            let state = GamepadReport(buttons: 0x8001, direction: .upLeft, leftStick: .init(x: -127, y: 127))
            try await gamepad.send(state, in: session)
            let received = try await central.nextUpdate(of: gamepad.report.value)
            try expect("report", received, is: state.bytes)
        }
    }
}
