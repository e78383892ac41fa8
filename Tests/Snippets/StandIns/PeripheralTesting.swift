import PeripheralBlueZ
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import Testing

enum PeripheralTestingStandIns {
    struct MyProcess: KillableProgram {
        let lines: AsyncStream<String>

        init(_ path: String) throws {
            fatalError()
        }

        func order(_ line: String) {}
        func kill() {}
    }

    static var peripheral: Peripheral { fatalError() }

    static var lamp: Peripheral { fatalError() }
    static var lampPeripheral: Peripheral { fatalError() }
    static var power: Characteristic<Bool> { fatalError() }
    static var session: PeripheralSession { fatalError() }
    static var central: VirtualCentral { fatalError() }
    static var bluez: EmulatedBlueZ { fatalError() }
    static var store: any RestorationStore { fatalError() }
    static var linesOfStandardInput: AsyncStream<String> { fatalError() }

    @Sendable static func makeCentral(of peripheral: Peripheral) -> any TestCentral { fatalError() }
    @Sendable static func shownPasskey() async -> UInt32 { fatalError() }
    @Sendable static func shownNumber() async -> UInt32 { fatalError() }
}
