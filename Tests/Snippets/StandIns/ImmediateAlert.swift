import PeripheralImmediateAlert
import PeripheralKit

enum ImmediateAlertStandIns {
    protocol Buzzer: Sendable {
        func sound(_ level: AlertLevel) async
    }

    static var buzzer: any Buzzer { fatalError() }
}
