import PeripheralKit
import PeripheralPhoneAlertStatus

enum PhoneAlertStatusStandIns {
    protocol Phone: Sendable {
        var ringerSetting: RingerSetting { get }
        var changes: AsyncStream<(ringerSetting: RingerSetting, alertStatus: AlertStatus)> { get }
        func obey(_ command: RingerCommand) async
    }

    static var phone: any Phone { fatalError() }
}
