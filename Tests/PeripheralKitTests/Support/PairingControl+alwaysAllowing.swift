import Logging
import PeripheralTesting

@testable import PeripheralKit

extension PairingControl {
    /// Lets centrals pair at any time.
    static var alwaysAllowing: PairingControl {
        PairingControl(
            PairingPolicy(),
            bonds: [],
            stopwatch: Stopwatch(ManualClock()),
            logger: Logger(label: "silent") { _ in SwiftLogNoOpLogHandler() }
        ) {
            throw PeripheralError.stopped
        } report: { _ in
        } preserve: { _ in
        }
    }
}
