import PeripheralEnvironmentalSensing
import PeripheralKit
import PeripheralTesting

enum EnvironmentalSensingStandIns {
    protocol Station: Sendable {
        var samples: AsyncStream<(celsius: Double, percent: Double)> { get }
    }

    static var station: any Station { fatalError() }

    static var central: VirtualCentral { fatalError() }
    static var humidity: EnvironmentalSensor { fatalError() }
    static var temperature: EnvironmentalSensor { fatalError() }
}
