import PeripheralBTHome
import PeripheralBlueZ
import PeripheralKit

enum PeripheralBTHomeStandIns {
    struct Reading: Sendable {
        let celsius: Double
        let percent: Double
    }

    protocol CounterFile: Sendable {
        func read() throws -> UInt32
        func write(_ counter: UInt32) throws
    }

    static var thermometer: (readings: AsyncStream<Reading>, ()) { fatalError() }
    static var session: PeripheralSession { fatalError() }
    static var file: any CounterFile { fatalError() }
    static var key: BTHomeKey { fatalError() }
    static var address: DeviceAddress { fatalError() }
    static var number: UInt8 { fatalError() }
}
