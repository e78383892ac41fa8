internal import PeripheralConformance
internal import PeripheralKit
internal import PeripheralPhoneAlertStatus
internal import PeripheralTesting

extension ServiceConformance {
    static let phoneAlertStatus = [phoneAlerts, ringerControlPoint]

    private static let phoneAlerts = Scenario(
        "PhoneAlertStatus: a central is notified when a call starts and ends"
    ) {
        let phone = PhoneAlertStatusService(ringerSetting: .normal, security: .open)
        return ScenarioRun(Peripheral("Phone") { phone }, mtu: 23) { central, session in
            try await central.subscribe(to: phone.alertStatus, knownTo: session)
            try await central.subscribe(to: phone.ringerSetting, knownTo: session)
            try expect("status", try await central.read(phone.alertStatus), is: AlertStatus())
            try expect("setting", try await central.read(phone.ringerSetting), is: .normal)

            let call = AlertStatus(isRingerActive: true, isDisplayAlertActive: true)
            for status in [call, AlertStatus()] {
                try await phone.update(to: status, in: session)
                try expect("update", try await central.nextUpdate(of: phone.alertStatus), is: status)
                try expect("status", try await central.read(phone.alertStatus), is: status)
            }
            try await phone.update(to: .silent, in: session)
            try expect("update", try await central.nextUpdate(of: phone.ringerSetting), is: .silent)
            try expect("setting", try await central.read(phone.ringerSetting), is: .silent)
        }
    }

    private static let ringerControlPoint = Scenario(
        "PhoneAlertStatus: commands arrive, except reserved ones and Mute Once without ringing"
    ) {
        let commands = Recorder<RingerCommand>()
        let phone = PhoneAlertStatusService(ringerSetting: .normal, security: .open) { commands.record($0) }
        return ScenarioRun(Peripheral("Phone") { phone }) { central, session in
            let controlPoint = try present(phone.controlPoint)
            let handle = try await central.locate(controlPoint).valueHandle
            for ignored: UInt8 in [0, 2, 4] {
                try await central.writeWithoutResponse(handle, [ignored])
            }
            try await central.writeWithoutResponse(controlPoint, .silentMode)
            try expect("command", try await commands.next(), is: .silentMode)
            try await central.writeWithoutResponse(controlPoint, .cancelSilentMode)
            try expect("command", try await commands.next(), is: .cancelSilentMode)

            try await phone.update(to: AlertStatus(isRingerActive: true), in: session)
            try await central.writeWithoutResponse(controlPoint, .muteOnce)
            try expect("command", try await commands.next(), is: .muteOnce)
        }
    }
}
