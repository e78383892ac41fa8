import PeripheralHealthThermometer
import PeripheralKit

enum HealthThermometerStandIns {
    protocol Sensor: Sendable {
        var results: AsyncStream<Double> { get }
    }

    static var sensor: any Sensor { fatalError() }

    static var now: DateTime { fatalError() }
}
