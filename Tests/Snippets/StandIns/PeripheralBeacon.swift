import PeripheralBeacon
import PeripheralBlueZ
import PeripheralKit

enum PeripheralBeaconStandIns {
    static var gate: Advertisement { fatalError() }

    static func telemetry() -> EddystoneTelemetry { fatalError() }
}
