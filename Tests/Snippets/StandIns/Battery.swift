import PeripheralBattery
import PeripheralKit

enum BatteryStandIns {
    static var gauge: (percent: Int, changes: AsyncStream<Int>) { fatalError() }
}
