import PeripheralCore
import Testing

@testable import PeripheralBlueZ

@Suite(.timeLimit(.minutes(1)))
struct LinkCountersTests {
    /// As `HCIGETDEVINFO` fills it: each number of `struct hci_dev_stats` is the place that it has there.
    @Test func theNumbersAreThoseOfTheKernel() {
        var information = HCIDeviceInformation(adapter: 0x0102)
        #expect(Array(information.bytes.prefix(2)) == [2, 1])
        #expect(information.bytes.count == 92)
        let statistics: [UInt32] = Array(0..<10)
        information.bytes.replaceSubrange(52..<92, with: statistics.flatMap(\.gattBytes))
        #expect(
            information.counters
                == LinkCounters(packetsSent: 4, packetsReceived: 5, commandsSent: 2, bytesSent: 9)
        )
    }

    @Test func controllerIsDescribed() {
        var information = HCIDeviceInformation(adapter: 0)
        information.bytes[20] = 0x13  // HCI_UART, of the type "AMP"
        information.bytes.replaceSubrange(44..<48, with: [0xFB, 0x00, 0x08, 0x00])
        let description = information.description
        #expect(description.bus == "UART")
        #expect(description.packets == 8)
        #expect(description.packetSize == 251)
        #expect(description.isClassic)
        information.bytes[25] = 0x20
        #expect(!information.description.isClassic)
    }

    /// For a controller with Bluetooth Classic, the kernel reports another number.
    @Test func theRoomIsKnownWithoutBluetoothClassic() {
        var information = HCIDeviceInformation(adapter: 0)
        information.bytes.replaceSubrange(46..<48, with: [0x04, 0x01])
        #expect(information.packetRoom == nil)
        information.bytes[25] = 0x20
        #expect(information.packetRoom == 0x0104)
        information.bytes.replaceSubrange(46..<48, with: [0, 0])
        #expect(information.packetRoom == nil)
    }
}
