import PeripheralBlueZ
import PeripheralKit
import PeripheralServiceConformance
import PeripheralTesting

enum ConformanceStandIns {
    @Sendable static func makeCentral(of peripheral: Peripheral) -> any TestCentral { fatalError() }
}
