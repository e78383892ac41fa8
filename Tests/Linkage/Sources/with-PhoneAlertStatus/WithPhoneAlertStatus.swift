import MinimalProgram
import PeripheralKit
import PeripheralPhoneAlertStatus

@main
struct WithPhoneAlertStatus {
    static func main() async throws {
        let phone = PhoneAlertStatusService(ringerSetting: .normal) { command in print(command.rawValue) }
        try await runMinimalProgram(with: [phone]) { session in
            try await phone.update(to: .silent, in: session)
            try await phone.update(to: AlertStatus(isVibrateActive: true), in: session)
        }
    }
}
