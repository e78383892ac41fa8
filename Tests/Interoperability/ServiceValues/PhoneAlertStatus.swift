import PeripheralKit
import PeripheralPhoneAlertStatus

extension ServiceValues {
    /// Without the Ringer Control Point, which the library does not decode.
    static let phoneAlertStatus: [Sample] = [
        .sent(
            .alertStatus,
            AlertStatus(),
            is: ["ringer_state": false, "vibrate_state": false, "display_alert_status": false]
        ),
        .sent(
            .alertStatus,
            AlertStatus(isRingerActive: true),
            is: ["ringer_state": true, "vibrate_state": false, "display_alert_status": false]
        ),
        .sent(
            .alertStatus,
            AlertStatus(isVibrateActive: true),
            is: ["ringer_state": false, "vibrate_state": true, "display_alert_status": false]
        ),
        .sent(
            .alertStatus,
            AlertStatus(isDisplayAlertActive: true),
            is: ["ringer_state": false, "vibrate_state": false, "display_alert_status": true]
        ),
        .sent(.ringerSetting, RingerSetting.silent, is: ["setting": "RINGER_SILENT"]),
        .sent(.ringerSetting, RingerSetting.normal, is: ["setting": "RINGER_NORMAL"]),
    ]
}
