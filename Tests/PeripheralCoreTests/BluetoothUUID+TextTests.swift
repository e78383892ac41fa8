import PeripheralCore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct BluetoothUUIDTextTests {
    @Test(arguments: [
        ("180d", "180d"),
        ("180D", "180d"),
        ("0000180D", "180d"),
        ("0000180d-0000-1000-8000-00805F9B34FB", "180d"),
        ("12345678", "12345678"),
        ("12345678-0000-1000-8000-00805f9b34fb", "12345678"),
        ("00010000", "00010000"),
        ("0000", "0000"),
        ("5C3A0001-7C1E-4B39-9D3E-0A4D2F6B8C11", "5c3a0001-7c1e-4b39-9d3e-0a4d2f6b8c11"),
    ])
    func theCanonicalTextIsTheShortest(text: String, canonical: String) throws {
        let uuid = try #require(BluetoothUUID(text))
        #expect(uuid.description == canonical)
        #expect(BluetoothUUID(canonical) == uuid)
    }

    @Test(arguments: [
        ("180d", "0000180d-0000-1000-8000-00805f9b34fb"),
        ("12345678", "12345678-0000-1000-8000-00805f9b34fb"),
        ("5C3A0001-7C1E-4B39-9D3E-0A4D2F6B8C11", "5c3a0001-7c1e-4b39-9d3e-0a4d2f6b8c11"),
    ])
    func theFullTextHas36Characters(text: String, full: String) throws {
        let uuid = try #require(BluetoothUUID(text))
        #expect(uuid.fullDescription == full)
        #expect(BluetoothUUID(full) == uuid)
    }

    @Test(arguments: [
        "", "180", "180d0", "0x180d", "180g", " 180d", "180d ", "+180", "-180", "1_0d", "１80d",
        "0000180d000010008000", "0000180d00001000800000805f9b34fb",
        "{0000180d-0000-1000-8000-00805f9b34fb}", "0000180d-0000-1000-8000-00805f9b34f",
        "0000180d-0000-1000-8000-00805f9b34fbb", "0000180d0-000-1000-8000-00805f9b34fb",
        "0000180d-0000-1000-8000-00805f9b34f-", "0000180d_0000_1000_8000_00805f9b34fb",
        "g000180d-0000-1000-8000-00805f9b34fb",
    ])
    func otherTextIsNone(text: String) {
        #expect(BluetoothUUID(text) == nil)
    }

    @Test(arguments: [1, 2] as [UInt64])
    func textComesBack(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let wrong = (0..<10_000).first { _ in
            let bytes = generator.bytes(count: [2, 4, 16].randomElement(using: &generator) ?? 2)
            guard let uuid = BluetoothUUID(littleEndian: bytes) else {
                return true
            }
            let texts = [uuid.description, uuid.fullDescription, uuid.fullDescription.uppercased()]
            return texts.contains { BluetoothUUID($0) != uuid }
                || BluetoothUUID(littleEndian: uuid.littleEndianBytes) != uuid
                || BluetoothUUID(littleEndian: uuid.attBytes) != uuid
        }
        #expect(wrong == nil, "round \(wrong ?? 0) of seed \(seed)")
    }

    @Test(arguments: [4, 5, 6] as [UInt64])
    func anyTextIsTakenOrRefused(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let alphabet = Array("0123456789abcdefABCDEF--gx é")
        var taken = 0
        for _ in 0..<fuzzInputCount {
            let count =
                [4, 8, 36, Int.random(in: 0...40, using: &generator)].randomElement(using: &generator) ?? 4
            let text = String((0..<count).map { _ in alphabet.randomElement(using: &generator) ?? "0" })
            guard let uuid = BluetoothUUID(text) else {
                continue
            }
            taken += 1
            if uuid.fullDescription.count != 36 || BluetoothUUID(uuid.description) != uuid {
                Issue.record("\(text) of seed \(seed)")
            }
        }
        #expect(taken > 0)
    }

    @Test(
        arguments: [
            ("0x180d", "\"0x180d\" (not a UUID)"), ("", "\"\" (not a UUID)"), ("1", "\"1\" (not a UUID)"),
            ("180é", "\"180é\" (not a UUID)"), (0x12A19, "0x12A19 (not a UUID)"),
            (0xFFFFFFF, "0xFFFFFFF (not a UUID)"), (0x10000, "0x10000 (not a UUID)"),
        ] as [(BluetoothUUID, String)]
    )
    func aMalformedLiteralEqualsNoUUID(uuid: BluetoothUUID, description: String) {
        #expect(uuid.description == description)
        #expect(uuid.fullDescription == description)
        #expect(uuid != BluetoothUUID(0x180D as UInt16))
        // The number that takes the place of a malformed literal.
        #expect(uuid != "00000000-0000-0000-0000-000000000000")
        #expect(uuid.assignedNumber == nil)
        #expect(uuid.attBytes == [])
        #expect(uuid.littleEndianBytes == [])
        #expect(uuid < 0x0000)
    }

    /// A number that begins with zeros needs quotes.
    @Test func aNumberOf32BitsHas8Digits() {
        #expect((0x12345678 as BluetoothUUID).assignedNumber == 0x12345678)
        #expect((0x10000000 as BluetoothUUID).assignedNumber == 0x10000000)
        #expect(("00012345" as BluetoothUUID) == BluetoothUUID(0x12345 as UInt32))
        #expect((0x0001180F as BluetoothUUID).description == "0x1180F (not a UUID)")
        #expect((0xFFFF as BluetoothUUID).assignedNumber == 0xFFFF)
    }

    @Test func malformedLiteralsAreEqualIfTheirTextsAre() {
        let uuids: [BluetoothUUID] = ["18OF", "18OE", "18OF"]
        #expect(uuids[0] == uuids[2])
        #expect(uuids[0] != uuids[1])
        #expect(Set(uuids).count == 2)
        #expect(uuids.sorted() == [uuids[1], uuids[0], uuids[0]])
    }
}
