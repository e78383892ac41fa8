import PeripheralKit
import PeripheralWeightScale

enum WeightScaleStandIns {
    protocol Sensor: Sendable {
        var weights: AsyncStream<Double> { get }
    }

    static var sensor: any Sensor { fatalError() }
}
