import PeripheralKit
import PeripheralPhoneAlertStatus
import PeripheralTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct PhoneAlertStatusTests {
    @Test func declaresNoControlPointByItself() async throws {
        let phone = PhoneAlertStatusService(ringerSetting: .normal, security: .open)
        #expect(phone.controlPoint == nil)
        try await Peripheral("Phone") { phone }.test { central in
            let declared = try await central.discover().declared
            #expect(
                declared == [
                    DeclaredCharacteristic(service: 0x180E, uuid: 0x2A3F, properties: [.read, .notify]),
                    DeclaredCharacteristic(service: 0x180E, uuid: 0x2A41, properties: [.read, .notify]),
                ]
            )
        }
    }

    @Test func declaresTheControlPointForAHandler() async throws {
        let phone = PhoneAlertStatusService(ringerSetting: .normal, security: .open) { _ in }
        try await Peripheral("Phone") { phone }.test { central in
            let declared = try await central.discover().declared
            #expect(
                declared == [
                    DeclaredCharacteristic(service: 0x180E, uuid: 0x2A3F, properties: [.read, .notify]),
                    DeclaredCharacteristic(service: 0x180E, uuid: 0x2A41, properties: [.read, .notify]),
                    DeclaredCharacteristic(service: 0x180E, uuid: 0x2A40, properties: .writeWithoutResponse),
                ]
            )
        }
    }

    // MARK: - Values

    /// Section 3.1: bit 0 is the Ringer State, bit 1 the Vibrate State, bit 2 the Display Alert Status.
    @Test(
        arguments: [
            (AlertStatus(), 0x00),
            (AlertStatus(isRingerActive: true), 0x01),
            (AlertStatus(isVibrateActive: true), 0x02),
            (AlertStatus(isDisplayAlertActive: true), 0x04),
            (AlertStatus(isRingerActive: true, isVibrateActive: true, isDisplayAlertActive: true), 0x07),
        ] as [(AlertStatus, UInt8)]
    )
    func alertStatusIsThreeFlags(status: AlertStatus, byte: UInt8) throws {
        #expect(status.gattBytes == [byte])
        #expect(try AlertStatus(gattBytes: [byte]) == status)
        // Bits 3 to 7 are reserved.
        #expect(try AlertStatus(gattBytes: [byte | 0xF8]) == status)
    }

    /// Section 3.2: 0 is Ringer Silent, 1 Ringer Normal, the others are reserved.
    @Test func ringerSettingIsSilentOrNormal() throws {
        #expect(RingerSetting.silent.gattBytes == [0])
        #expect(RingerSetting.normal.gattBytes == [1])
        #expect(try RingerSetting(gattBytes: [0]) == .silent)
        #expect(try RingerSetting(gattBytes: [1]) == .normal)
        for reserved: UInt8 in [2, 255] {
            let error = #expect(throws: GATTDecodingError.self) { try RingerSetting(gattBytes: [reserved]) }
            #expect(error?.code == .invalidValue)
        }
    }

    /// Section 3.3: 1 is Silent Mode, 2 Mute Once, 3 Cancel Silent Mode, the others are reserved.
    @Test func ringerCommandsAreOneToThree() throws {
        #expect(RingerCommand.silentMode.gattBytes == [1])
        #expect(RingerCommand.muteOnce.gattBytes == [2])
        #expect(RingerCommand.cancelSilentMode.gattBytes == [3])
        #expect(try RingerCommand(gattBytes: [1]) == .silentMode)
        #expect(try RingerCommand(gattBytes: [2]) == .muteOnce)
        #expect(try RingerCommand(gattBytes: [3]) == .cancelSilentMode)
        for reserved: UInt8 in [0, 4, 255] {
            let error = #expect(throws: GATTDecodingError.self) { try RingerCommand(gattBytes: [reserved]) }
            #expect(error?.code == .invalidValue)
        }
    }

    @Test func valuesAreExactlyOneByte() {
        #expect(throws: GATTDecodingError.self) { try AlertStatus(gattBytes: []) }
        #expect(throws: GATTDecodingError.self) { try AlertStatus(gattBytes: [1, 0]) }
        #expect(throws: GATTDecodingError.self) { try RingerSetting(gattBytes: []) }
        #expect(throws: GATTDecodingError.self) { try RingerSetting(gattBytes: [1, 0]) }
        #expect(throws: GATTDecodingError.self) { try RingerCommand(gattBytes: []) }
        #expect(throws: GATTDecodingError.self) { try RingerCommand(gattBytes: [1, 0]) }
    }

    @Test func decodesWhateverComes() throws {
        try fuzz(AlertStatus.self, seed: 0x2A3F, count: 0...2)
        try fuzz(RingerSetting.self, seed: 0x2A41, count: 0...2)
        try fuzz(RingerCommand.self, seed: 0x2A40, count: 0...2)
    }

    // MARK: - Values and updates

    @Test func readsWhatItIsDeclaredWith() async throws {
        let status = AlertStatus(isVibrateActive: true)
        let phone = PhoneAlertStatusService(alertStatus: status, ringerSetting: .silent, security: .open)
        try await Peripheral("Phone") { phone }.test { central async throws in
            #expect(try await central.read(phone.alertStatus) == status)
            #expect(try await central.read(phone.ringerSetting) == .silent)
        }
    }

    @Test func sendsAnAlertStatusWhenItChanges() async throws {
        let phone = PhoneAlertStatusService(ringerSetting: .normal, security: .open)
        try await Peripheral("Phone") { phone }.test { central, session in
            try await central.subscribe(to: phone.alertStatus)
            let ringing = AlertStatus(isRingerActive: true)
            for status in [AlertStatus(), ringing, ringing, AlertStatus()] {
                try await phone.update(to: status, in: session)
            }
            #expect(try await central.nextUpdate(of: phone.alertStatus) == ringing)
            #expect(try await central.nextUpdate(of: phone.alertStatus) == AlertStatus())
            #expect(try await central.read(phone.alertStatus) == AlertStatus())
        }
    }

    @Test func sendsARingerSettingWhenItChanges() async throws {
        let phone = PhoneAlertStatusService(ringerSetting: .normal, security: .open)
        try await Peripheral("Phone") { phone }.test { central, session in
            try await central.subscribe(to: phone.ringerSetting)
            for setting: RingerSetting in [.normal, .silent, .silent, .normal] {
                try await phone.update(to: setting, in: session)
            }
            #expect(try await central.nextUpdate(of: phone.ringerSetting) == .silent)
            #expect(try await central.nextUpdate(of: phone.ringerSetting) == .normal)
            #expect(try await central.read(phone.ringerSetting) == .normal)
        }
    }

    // MARK: - Commands

    /// Section 3.3: a command that is not defined has no effect; a Mute Once without ringing is not kept for
    /// a later alert.
    @Test func obeysCommandsThatHaveAnEffect() async throws {
        let commands = Recorded<RingerCommand>()
        let phone = PhoneAlertStatusService(ringerSetting: .normal, security: .open) { commands.append($0) }
        let controlPoint = try #require(phone.controlPoint)
        try await Peripheral("Phone") { phone }.test { central, session in
            let handle = try await central.locate(controlPoint).valueHandle
            // Commands are carried out in their order, and the last of each row has an effect.
            let write = { (bytes: [UInt8], count: Int) async throws in
                for byte in bytes { try await central.writeWithoutResponse(handle, [byte]) }
                try await until { commands.values.count >= count }
            }
            try await write([0, 2, 4, 255, 1], 1)
            try await phone.update(
                to: AlertStatus(isVibrateActive: true, isDisplayAlertActive: true),
                in: session
            )
            try await write([2, 3], 2)
            try await phone.update(to: AlertStatus(isRingerActive: true), in: session)
            try await write([2], 3)
            try await phone.update(to: AlertStatus(), in: session)
            try await write([2, 1], 4)
            #expect(commands.values == [.silentMode, .cancelSilentMode, .muteOnce, .silentMode])
        }
    }

    /// "There is no direct coupling from writing to the control point to the values", says the service's
    /// definition.
    @Test func commandsChangeNoValue() async throws {
        let commands = Recorded<RingerCommand>()
        let phone = PhoneAlertStatusService(
            alertStatus: AlertStatus(isRingerActive: true),
            ringerSetting: .normal,
            security: .open
        ) { commands.append($0) }
        let controlPoint = try #require(phone.controlPoint)
        try await Peripheral("Phone") { phone }.test { central async throws in
            for command: RingerCommand in [.silentMode, .muteOnce] {
                try await central.writeWithoutResponse(controlPoint, command)
            }
            try await until { commands.values.count >= 2 }
            #expect(try await central.read(phone.ringerSetting) == .normal)
            #expect(try await central.read(phone.alertStatus) == AlertStatus(isRingerActive: true))
        }
    }

    // MARK: - Security

    @Test func tellsNothingToStrangers() async throws {
        let commands = Recorded<RingerCommand>()
        let phone = PhoneAlertStatusService(ringerSetting: .normal) { commands.append($0) }
        let controlPoint = try #require(phone.controlPoint)
        try await Peripheral("Phone", pairing: .justWorks) { phone }.test { central in
            await #expect(throws: ATTError.insufficientEncryption) {
                try await central.read(phone.alertStatus)
            }
            await #expect(throws: ATTError.insufficientEncryption) {
                try await central.read(phone.ringerSetting)
            }
            try await central.writeWithoutResponse(controlPoint, .silentMode)
            try await central.pair(.justWorks)
            #expect(try await central.read(phone.ringerSetting) == .normal)
            #expect(try await central.read(phone.alertStatus) == AlertStatus())
            try await central.writeWithoutResponse(controlPoint, .cancelSilentMode)
            try await until { !commands.values.isEmpty }
            #expect(commands.values == [.cancelSilentMode])
        }
    }
}
