import PeripheralCore
import Testing

@Suite(.timeLimit(.minutes(1)))
struct BluetoothUUIDTests {
    @Test func equalsItselfInEachForm() throws {
        let short: BluetoothUUID = 0x180D
        #expect(short == "180d")
        #expect(short == "0000180D")
        #expect(short == BluetoothUUID("0000180d-0000-1000-8000-00805F9B34FB"))
        #expect(short.description == "180d")
        #expect(short.fullDescription == "0000180d-0000-1000-8000-00805f9b34fb")
        #expect(short.littleEndianBytes == [0x0D, 0x18])
    }
}
