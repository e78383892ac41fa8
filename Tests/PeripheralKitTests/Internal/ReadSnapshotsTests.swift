import Testing

@testable import PeripheralKit

@Suite(.timeLimit(.minutes(1)))
struct ReadSnapshotsTests {
    private static func request(by number: UInt64, offset: Int = 0) throws -> ReadRequest {
        let address = try #require(DeviceAddress(rawValue: number))
        return ReadRequest(attribute: 3, offset: offset, central: Central(address: address, mtu: 23))
    }

    @Test(arguments: [(21, false), (22, true), (23, true), (512, true)])
    func aValueIsKeptWhenThereWillBeFurtherParts(length: Int, isKept: Bool) throws {
        var snapshots = ReadSnapshots()
        let value = [UInt8](repeating: 1, count: length)
        snapshots.begin(try Self.request(by: 1), with: value)
        #expect(snapshots.value(for: try Self.request(by: 1, offset: 22)) == (isKept ? value : nil))
        #expect(snapshots.value(for: try Self.request(by: 2, offset: 22)) == nil)
    }

    @Test func aShortValueReplacesALongOne() throws {
        var snapshots = ReadSnapshots()
        snapshots.begin(try Self.request(by: 1), with: [UInt8](repeating: 1, count: 100))
        snapshots.begin(try Self.request(by: 1), with: [1])
        #expect(snapshots.value(for: try Self.request(by: 1, offset: 22)) == nil)
    }

    @Test func theOldestGivesWay() throws {
        var snapshots = ReadSnapshots(capacity: 2)
        let value = [UInt8](repeating: 1, count: 100)
        snapshots.begin(try Self.request(by: 1), with: value)
        snapshots.begin(try Self.request(by: 2), with: value)
        snapshots.begin(try Self.request(by: 1), with: value)
        snapshots.begin(try Self.request(by: 3), with: value)
        #expect(snapshots.value(for: try Self.request(by: 2)) == nil)
        #expect(snapshots.value(for: try Self.request(by: 1)) == value)
        #expect(snapshots.value(for: try Self.request(by: 3)) == value)
    }
}
