import PeripheralKit

enum RowerStandIns {
    protocol Oar: Sendable {
        var seconds: AsyncStream<(rate: Double, count: Int, power: Int)> { get }
    }

    static var oar: any Oar { fatalError() }
}
