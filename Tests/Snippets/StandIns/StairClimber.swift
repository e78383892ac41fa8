import PeripheralKit

enum StairClimberStandIns {
    protocol Pedals: Sendable {
        var seconds: AsyncStream<(floors: Int, rate: Int)> { get }
    }

    static var pedals: any Pedals { fatalError() }
}
