import PeripheralKit
import PeripheralLinkLoss

enum LinkLossStandIns {
    protocol Buzzer: Sendable {
        func sound(_ level: AlertLevel) async
    }

    static var buzzer: any Buzzer { fatalError() }
}
