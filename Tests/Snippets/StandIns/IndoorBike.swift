import PeripheralFitnessMachine
import PeripheralIndoorBike
import PeripheralKit

enum IndoorBikeStandIns {
    protocol Rider: Sendable {
        var seconds: AsyncStream<(speed: Double, cadence: Double, power: Int)> { get }
    }

    static var rider: any Rider { fatalError() }
}
