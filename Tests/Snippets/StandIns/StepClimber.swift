import PeripheralKit

enum StepClimberStandIns {
    protocol Pedals: Sendable {
        var seconds: AsyncStream<(floors: Int, steps: Int)> { get }
    }

    static var pedals: any Pedals { fatalError() }
}
