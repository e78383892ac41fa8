import PeripheralAutomationIO
import PeripheralKit

enum AutomationIOStandIns {
    protocol Relay: Sendable {
        func set(_ state: DigitalState) async throws
    }

    protocol Fan: Sendable {
        func set(_ speed: UInt16) async throws
    }

    protocol Line: Sendable {
        var levels: AsyncStream<Bool> { get }
    }

    static var relay: any Relay { fatalError() }
    static var button: AutomationDigital { fatalError() }
    static var pump: AutomationDigital { fatalError() }
    static var fan: any Fan { fatalError() }
    static var line: any Line { fatalError() }
}
