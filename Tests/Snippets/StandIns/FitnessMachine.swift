import PeripheralFitnessMachine
import PeripheralIndoorBike
import PeripheralKit

enum FitnessMachineStandIns {
    protocol Brake: Sendable {
        func hold(_ watts: Int) async
        func simulate(_ simulation: BikeSimulation) async
    }

    protocol Motor: Sendable {
        func start() async -> Bool
        func stop() async
        func reset() async
    }

    protocol Rider: Sendable {
        var seconds: AsyncStream<IndoorBikeData> { get }
    }

    static var brake: any Brake { fatalError() }
    static var motor: any Motor { fatalError() }
    static var rider: any Rider { fatalError() }
    static var bike: FitnessMachineService<IndoorBikeData> { fatalError() }
    static var session: PeripheralSession { fatalError() }
}
