import PeripheralKit

enum TreadmillStandIns {
    protocol Belt: Sendable {
        var seconds: AsyncStream<(speed: Double, distance: Int)> { get }
    }

    static var belt: any Belt { fatalError() }
}
