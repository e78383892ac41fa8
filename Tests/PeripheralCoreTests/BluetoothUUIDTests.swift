import PeripheralCore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct BluetoothUUIDTests {
    @Test func assignedNumbersLieInTheBaseUUID() {
        let heartRate: BluetoothUUID = 0x180D
        #expect(heartRate == BluetoothUUID(0x180D as UInt16))
        #expect(heartRate == BluetoothUUID(0x180D as UInt32))
        #expect(heartRate == "0000180d-0000-1000-8000-00805f9b34fb")
        #expect(heartRate.assignedNumber == 0x180D)
    }

    private struct Found: Sendable {
        var uuid: BluetoothUUID
        var number: UInt16
        var bytes: [UInt8]
    }

    @inline(never)
    private func find(_ uuid: BluetoothUUID) async -> Found {
        await Task.yield()
        return Found(uuid: uuid, number: 7, bytes: [1, 2, 3])
    }

    /// The compiler for arm64 has trouble with wide integers there.
    @Test func isReturnedByAnAsynchronousFunction() async {
        let found = await find("5c3a0001-7c1e-4b39-9d3e-0a4d2f6b8c11")
        #expect(found.uuid == "5c3a0001-7c1e-4b39-9d3e-0a4d2f6b8c11")
        #expect(found.number == 7)
        #expect(found.bytes == [1, 2, 3])
    }

    @Test(arguments: [
        "5c3a0001-7c1e-4b39-9d3e-0a4d2f6b8c11",
        "0000180d-0000-1000-8000-00805f9b34fc",
        "0000180d-0000-1000-8000-10805f9b34fb",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
    ])
    func othersHaveNoAssignedNumber(text: String) throws {
        #expect(try #require(BluetoothUUID(text)).assignedNumber == nil)
    }

    @Test(
        arguments: [
            ("180d", [0x0D, 0x18], [0x0D, 0x18]),
            ("00000000", [0x00, 0x00], [0x00, 0x00]),
            (
                "12345678", [0x78, 0x56, 0x34, 0x12],
                [
                    0xFB, 0x34, 0x9B, 0x5F, 0x80, 0x00, 0x00, 0x80, 0x00, 0x10, 0x00, 0x00, 0x78, 0x56, 0x34,
                    0x12,
                ]
            ),
            (
                "00112233-4455-6677-8899-aabbccddeeff",
                [
                    0xFF, 0xEE, 0xDD, 0xCC, 0xBB, 0xAA, 0x99, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,
                    0x00,
                ],
                [
                    0xFF, 0xEE, 0xDD, 0xCC, 0xBB, 0xAA, 0x99, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,
                    0x00,
                ]
            ),
        ] as [(String, [UInt8], [UInt8])]
    )
    func bytesAreLittleEndian(text: String, shortest: [UInt8], att: [UInt8]) throws {
        let uuid = try #require(BluetoothUUID(text))
        #expect(uuid.littleEndianBytes == shortest)
        #expect(uuid.attBytes == att)
        #expect(BluetoothUUID(littleEndian: shortest) == uuid)
        #expect(BluetoothUUID(littleEndian: att) == uuid)
    }

    @Test func onlyThreeLengthsAreUUIDs() {
        for count in 0...32 {
            let uuid = BluetoothUUID(littleEndian: [UInt8](repeating: 7, count: count))
            #expect((uuid != nil) == [2, 4, 16].contains(count))
        }
    }

    @Test func theOrderIsThatOfTheFullTexts() {
        var generator = SeededGenerator(seed: 1)
        var uuids: [BluetoothUUID] = [0x180F, 0x1234_5678, 0x180D]
        uuids += (0..<100).compactMap { _ in BluetoothUUID(littleEndian: generator.bytes(count: 16)) }
        #expect(uuids.count == 103)
        #expect(uuids.sorted().map(\.fullDescription) == uuids.map(\.fullDescription).sorted())
    }
}
