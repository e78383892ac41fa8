import PeripheralBlueZ
import PeripheralConformance
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import Testing

enum PeripheralConformanceStandIns {
    struct MyProcess: KillableProgram {
        let lines: AsyncStream<String>

        init(_ path: String) throws {
            fatalError()
        }

        func order(_ line: String) {}
        func kill() {}
    }

    static var bluez: EmulatedBlueZ { fatalError() }
    static var store: any RestorationStore { fatalError() }
    static var linesOfStandardInput: AsyncStream<String> { fatalError() }

    @Sendable static func makeCentral(of peripheral: Peripheral) -> any TestCentral { fatalError() }
}
