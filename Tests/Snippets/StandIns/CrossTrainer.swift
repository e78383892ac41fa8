import PeripheralKit

enum CrossTrainerStandIns {
    protocol Pedals: Sendable {
        var seconds: AsyncStream<(speed: Double, power: Int)> { get }
    }

    static var pedals: any Pedals { fatalError() }
}
