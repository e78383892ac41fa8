import PeripheralCore
import Testing

@testable import PeripheralBlueZ

@Suite(.timeLimit(.minutes(1)))
struct HandleRecordTests {
    @Test func itIsReadAsItWasWritten() throws {
        var record = HandleRecord()
        #expect(HandleRecord(record.text) == record)
        record.setChecked([0x0100...0x0106, 0x0123...0xFFFF], in: "6f3b/:1.5/hci0/1234", page: 2)
        #expect(record.text.hasSuffix(" 6f3b/:1.5/hci0/1234#2 100-106,123-ffff"))
        #expect(HandleRecord(record.text) == record)
    }

    @Test(arguments: [
        "", "x - -", "1234 a", "1234 a#1 100", "1234 a#1 100-", "1234 a#1 200-100", "1234 a#1 100-10000",
        "1234 a b c", "1234 a#1 ,", "1234 a#1 " + String(repeating: "100-106,", count: 257),
    ])
    func whatIsNoRecordIsRefused(text: String) {
        #expect(HandleRecord(text) == nil)
    }

    /// The text of an earlier version has no page, so the ranges are checked again.
    @Test func rangesWithoutAPageAreForgotten() throws {
        let record = try #require(HandleRecord("\(HandleRecord().claimUUID) a 100-106"))
        #expect(record == HandleRecord(claimUUID: record.claimUUID))
    }

    @Test func afterTheLastPageARangeIsCheckedOnce() {
        var record = HandleRecord()
        record.setChecked([0x0100...0x0106], in: "a", page: nil)
        #expect(record.isChecked(0x0100...0x0106, in: "a", page: nil))
        #expect(!record.isChecked(0x0100...0x0106, in: "a", page: 1))
        #expect(HandleRecord(record.text) == record)
    }

    @Test func rangesAreCheckedInOnePageOfOneDatabase() {
        var record = HandleRecord()
        record.setChecked([0x0100...0x0106], in: "a", page: 1)
        #expect(record.isChecked(0x0100...0x0106, in: "a", page: 1))
        #expect(record.isChecked(0x0102...0x0103, in: "a", page: 1))
        #expect(!record.isChecked(0x0100...0x0107, in: "a", page: 1))
        #expect(!record.isChecked(0x0100...0x0106, in: "b", page: 1))
        #expect(!record.isChecked(0x0100...0x0106, in: "a", page: 2))
        #expect(!record.isChecked(0x0100...0x0106, in: "a", page: nil))
        record.forgetChecked()
        #expect(!record.isChecked(0x0100...0x0106, in: "a", page: 1))
    }

    @Test func itFitsIntoWhatIsPreserved() {
        var record = HandleRecord()
        let ranges = (0..<2000).map { number in
            let handle = AttributeHandle(rawValue: UInt16(0x1000 + 16 * number))
            return handle...handle
        }
        record.setChecked(ranges, in: String(repeating: "a", count: 200), page: 255)
        #expect(record.text.utf8.count <= 4096)
    }

    @Test func noTwoProgramsHaveTheSameUUID() {
        let uuids = Set((0..<1000).map { _ in BluetoothUUID.random() })
        #expect(uuids.count == 1000)
        #expect(uuids.allSatisfy { $0.assignedNumber == nil && "\($0)".dropFirst(14).first == "4" })
    }
}
