import PeripheralHID
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct HIDValueTests {
    @Test func informationIsFourBytes() throws {
        // HID Service 1.0, section 2.8: version, country, flags.
        #expect(HIDInformation().gattBytes == [0x11, 0x01, 0x00, 0x03])
        let other = HIDInformation(countryCode: 33, wakesHost: false, isNormallyConnectable: true)
        #expect(other.gattBytes == [0x11, 0x01, 0x21, 0x02])
        #expect(try HIDInformation(gattBytes: [0x11, 0x01, 0x21, 0xFE]) == other)
    }

    @Test func keyboardReportIsThatOfTheBootProtocol() throws {
        let report = KeyboardReport(modifiers: [.leftShift, .rightAlt], keys: [.enter, .tab])
        #expect(report.gattBytes == [0x42, 0, 0x28, 0x2B, 0, 0, 0, 0])
        #expect(try KeyboardReport(gattBytes: report.gattBytes) == report)
        let keys = (4...10).map { KeyUsage(rawValue: $0) }
        #expect(KeyboardReport(keys: Array(keys.prefix(6))).gattBytes == [0, 0, 4, 5, 6, 7, 8, 9])
        // More keys than a report can contain: ErrorRollOver in each place (HID Usage Tables 1.12, section
        // 10).
        #expect(
            KeyboardReport(modifiers: .leftShift, keys: keys).gattBytes == [0x02, 0, 1, 1, 1, 1, 1, 1]
        )
    }

    @Test func gamepadReportIsThatOfItsMap() {
        let report = GamepadReport(
            buttons: 0x8001,
            direction: .left,
            leftStick: GamepadReport.Stick(x: -200, y: 200),
            rightStick: GamepadReport.Stick(x: 1, y: -1),
            leftTrigger: 2,
            rightTrigger: 255
        )
        let bytes: [UInt8] = [0x01, 0x80, 0x07, 0x81, 0x7F, 0x01, 0xFF, 0x02, 0xFF]
        #expect(report.bytes == bytes)
        #expect(GamepadReport().bytes == [0, 0, 0, 0, 0, 0, 0, 0, 0])
    }

    @Test func decidesOnWhatIsReserved() throws {
        #expect(try HIDProtocolMode(gattBytes: [0]) == .boot)
        #expect(try HIDProtocolMode(gattBytes: [1]) == .report)
        #expect(HIDProtocolMode.boot.gattBytes == [0])
        #expect(HIDProtocolMode.report.gattBytes == [1])
        #expect(try HIDCommand(gattBytes: [0]) == .suspend)
        #expect(try HIDCommand(gattBytes: [1]) == .exitSuspend)
        #expect(HIDCommand.suspend.gattBytes == [0])
        #expect(HIDCommand.exitSuspend.gattBytes == [1])
        #expect(throws: GATTDecodingError.self) { try HIDProtocolMode(gattBytes: [2]) }
        #expect(throws: GATTDecodingError.self) { try HIDCommand(gattBytes: [2]) }
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func decodersEndWhateverTheyRead(seed: UInt64) throws {
        try fuzz(HIDInformation.self, seed: seed, count: 0...5)
        try fuzz(KeyboardReport.self, seed: seed, count: 6...9)
    }
}

@Suite(.timeLimit(.minutes(1)))
struct KeyStrokeTests {
    /// HID Usage Tables 1.12, section 10: key 0x04 is A, 0x1E is 1, and so on in this order, without and with
    /// Shift.
    @Test func hasAllOfASCII() {
        let plain = "abcdefghijklmnopqrstuvwxyz1234567890\n\u{1B}\u{8}\t -=[]\\\u{0};'`,./"
        let shifted = "ABCDEFGHIJKLMNOPQRSTUVWXYZ!@#$%^&*()\u{1}\u{1}\u{1}\u{1}\u{1}_+{}|\u{0}:\"~<>?"
        let untyped: Set<Character> = ["\u{0}", "\u{1}", "\u{8}", "\u{1B}"]
        var typed = 0
        for (modifiers, characters) in [(KeyModifiers(), plain), (.leftShift, shifted)] {
            for (index, character) in characters.enumerated() {
                let stroke = KeyStroke(usLayout: character)
                if untyped.contains(character) {
                    #expect(stroke == nil)
                } else {
                    let key = KeyUsage(rawValue: UInt8(0x04 + index))
                    #expect(stroke == KeyStroke(key, modifiers: modifiers), "\(character)")
                    typed += 1
                }
            }
        }
        // 95 that can be printed, the tab and the end of a line.
        #expect(typed == 97)
        #expect(KeyStroke(usLayout: "\r\n") == KeyStroke(.enter))
        #expect(KeyStroke(usLayout: "ä") == nil)
        #expect(KeyStroke(usLayout: "\u{7F}") == nil)
    }

    @Test(arguments: [(0, nil), (1, 0x3A), (12, 0x45), (13, 0x68), (24, 0x73), (25, nil)] as [(Int, UInt8?)])
    func countsFunctionKeys(number: Int, key: UInt8?) {
        #expect(KeyUsage.function(number)?.rawValue == key)
    }
}

@Suite(.timeLimit(.minutes(1)))
struct HIDServiceTests {
    @Test func declaresAGamepad() async throws {
        let gamepad = HIDGamepad()
        try await Peripheral("Gamepad", pairing: .justWorks) { gamepad }.test { central, session in
            let declared = try await central.discover().declared
            #expect(
                declared == [
                    DeclaredCharacteristic(service: 0x1812, uuid: 0x2A4A, properties: .read),
                    DeclaredCharacteristic(service: 0x1812, uuid: 0x2A4B, properties: .read),
                    DeclaredCharacteristic(service: 0x1812, uuid: 0x2A4C, properties: .writeWithoutResponse),
                    DeclaredCharacteristic(service: 0x1812, uuid: 0x2A4D, properties: [.read, .notify]),
                ]
            )
            try await central.pair(.justWorks)
            #expect(try await central.read(.reportReference, of: gamepad.report.value) == [1, 1])
            #expect(try await central.read(gamepad.report.value) == [0, 0, 0, 0, 0, 0, 0, 0, 0])
            try await central.subscribe(to: gamepad.report.value)
            try await gamepad.send(GamepadReport(buttons: 4), in: session)
            #expect(try await central.nextUpdate(of: gamepad.report.value) == [4, 0, 0, 0, 0, 0, 0, 0, 0])
            #expect(try await central.read(gamepad.report.value).first == 4)
        }
    }

    @Test func anExternalReportWithAMalformedUUIDIsInvalid() {
        let service = HIDService(reportMap: [0xC0], reports: [], externalReport: "2A19g")
        let issues = Peripheral("Device", pairing: .justWorks) { service }.validate()
        #expect(
            issues.filter { $0.severity == .error }.map(\.reason) == [
                "\"2A19g\" does not have the form of a UUID"
            ]
        )
    }

    @Test func declaresWhatAMapDescribes() async throws {
        let written = Recorded<[UInt8]>()
        let service = HIDService(
            reportMap: [0xC0],
            reports: [
                .output(id: 2, length: 2) { bytes, _ in written.append(bytes) },
                .feature(id: 3, length: 1, read: { [7] }, write: { bytes, _ in written.append(bytes) }),
            ],
            externalReport: .batteryLevel,
            onCommand: { command, _ in written.append([0xFF, command == .exitSuspend ? 1 : 0]) }
        )
        let (output, feature) = (service.reports[0].value, service.reports[1].value)
        try await Peripheral("Device", pairing: .justWorks) { service }.test { central, session in
            try await central.pair(.justWorks)
            #expect(try await central.read(service.reportMap) == [0xC0])
            #expect(try await central.read(.externalReportReference, of: service.reportMap) == [0x19, 0x2A])
            #expect(try await central.read(.reportReference, of: output) == [2, 2])
            #expect(try await central.read(.reportReference, of: feature) == [3, 3])
            try await central.write(output, [1, 2])
            #expect(try await central.read(output) == [1, 2])
            // The service refuses this length. BlueZ does not report the refusal, because the report permits
            // writes without response.
            try await central.write(output, [1])
            #expect(try await central.read(output) == [1, 2])
            try await central.write(feature, [9])
            #expect(try await central.read(feature) == [7])
            try await central.writeWithoutResponse(service.controlPoint, .exitSuspend)
            try await until { written.values.count == 3 }
            #expect(written.values == [[1, 2], [9], [0xFF, 1]])
            await #expect(throws: PeripheralError.self) {
                try await service.reports[0].send([1, 2], in: session)
            }
        }
    }

    @Test func servesEncryptedLinksAlone() async throws {
        let keyboard = HIDKeyboard()
        try await Peripheral("Keyboard", pairing: .justWorks) { keyboard }.test { central in
            await #expect(throws: ATTError.self) { try await central.read(keyboard.hid.reportMap) }
            await #expect(throws: ATTError.self) { try await central.read(keyboard.hid.information) }
            await #expect(throws: ATTError.self) {
                try await central.read(.reportReference, of: keyboard.keys.value)
            }
            await #expect(throws: ATTError.self) { try await central.subscribe(to: keyboard.keys.value) }
            try await central.pair(.justWorks)
            #expect(try await central.read(keyboard.hid.reportMap).first == 0x05)
        }
    }
}

@Suite(.timeLimit(.minutes(1)))
struct HIDKeyboardTests {
    @Test func types() async throws {
        let keyboard = HIDKeyboard()
        try await Peripheral("Keyboard", pairing: .justWorks) { keyboard }.test { central, session in
            try await central.pair(.justWorks)
            try await central.subscribe(to: keyboard.keys.value)
            let none = KeyboardReport().gattBytes
            async let typing: Void = keyboard.type("Aa!", in: session)
            for report: [UInt8] in [
                [2, 0, 4, 0, 0, 0, 0, 0], [0, 0, 4, 0, 0, 0, 0, 0], [2, 0, 0x1E, 0, 0, 0, 0, 0],
            ] {
                #expect(try await central.nextUpdate(of: keyboard.keys.value) == report)
                #expect(try await central.nextUpdate(of: keyboard.keys.value) == none)
            }
            try await typing
            await #expect(throws: UntypableCharacter(character: "é")) {
                try await keyboard.type("caf\u{E9}", in: session)
            }
        }
    }

    @Test func speaksTheProtocolThatAHostHasAskedFor() async throws {
        let keyboard = HIDKeyboard()
        let mode = try #require(keyboard.hid.protocolMode)
        try await Peripheral("Keyboard", pairing: .justWorks) { keyboard }.test { central, session in
            try await central.pair(.justWorks)
            let boot = try await central.discover().applicationServices[0].characteristics
                .first { $0.uuid == 0x2A22 }
            let bootHandle = try #require(boot).valueHandle
            try await central.subscribe(to: keyboard.keys.value)
            try await central.subscribe(bootHandle, to: .notification)
            #expect(try await central.read(mode) == .report)
            try await keyboard.send(KeyboardReport(keys: [.tab]), in: session)
            #expect(try await central.nextUpdate(of: keyboard.keys.value) == [0, 0, 0x2B, 0, 0, 0, 0, 0])
            try await central.writeWithoutResponse(mode, .boot)
            #expect(try await central.read(mode) == .boot)
            try await keyboard.press(KeyStroke(.enter), in: session)
            #expect(try await central.nextUpdate(of: bootHandle).value == [0, 0, 0x28, 0, 0, 0, 0, 0])
            #expect(try await central.nextUpdate(of: bootHandle).value == [0, 0, 0, 0, 0, 0, 0, 0])
            try await central.writeWithoutResponse(mode, .report)
            #expect(try await central.read(mode) == .report)
            try await keyboard.send(KeyboardReport(keys: [.space]), in: session)
            // What came meanwhile came by the boot protocol alone.
            #expect(try await central.nextUpdate(of: keyboard.keys.value) == [0, 0, 0x2C, 0, 0, 0, 0, 0])
            #expect(try await central.read(bootHandle, offset: 0) == [0, 0, 0x2C, 0, 0, 0, 0, 0])
        }
    }

    @Test func returnsToTheReportProtocolWithEachConnection() async throws {
        let keyboard = HIDKeyboard()
        let mode = try #require(keyboard.hid.protocolMode)
        try await Peripheral("Keyboard", pairing: .justWorks) { keyboard }.test { central in
            try await central.pair(.justWorks)
            try await central.writeWithoutResponse(mode, .boot)
            #expect(try await central.read(mode) == .boot)
            central.disconnect()
            // The keyboard hears of it a moment later.
            try await until {
                try? await central.connect()
                return (try? await central.read(mode)) == .report
            }
        }
    }

    @Test func takesTheLampsFromBothProtocols() async throws {
        let lamps = Recorded<KeyboardLEDs>()
        let keyboard = HIDKeyboard { leds, _ in lamps.append(leds) }
        try await Peripheral("Keyboard", pairing: .justWorks) { keyboard }.test { central in
            try await central.pair(.justWorks)
            let boot = try await central.discover().applicationServices[0].characteristics
                .first { $0.uuid == 0x2A32 }
            let bootHandle = try #require(boot).valueHandle
            try await central.write(keyboard.leds.value, [0x02])
            #expect(try await central.read(bootHandle, offset: 0) == [0x02])
            try await central.write(bootHandle, [0x05])
            #expect(try await central.read(keyboard.leds.value) == [0x05])
            #expect(lamps.values == [.capsLock, [.numLock, .scrollLock]])
        }
    }
}
