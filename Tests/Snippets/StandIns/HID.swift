import PeripheralHID
import PeripheralKit

enum HIDStandIns {
    protocol Pad: Sendable {
        var states: AsyncStream<(buttons: UInt16, hat: Int)> { get }
    }

    static var pad: any Pad { fatalError() }
    static var lines: AsyncStream<String> { fatalError() }
    static var reportMap: [UInt8] { fatalError() }
    static var consumerControlMap: [UInt8] { fatalError() }
    static var session: PeripheralSession { fatalError() }
}
