import PeripheralBodyComposition
import PeripheralKit

enum BodyCompositionStandIns {
    protocol Sensor: Sendable {
        var results: AsyncStream<(fat: Double, ohms: Double, kilograms: Double)> { get }
    }

    static var sensor: any Sensor { fatalError() }
}
