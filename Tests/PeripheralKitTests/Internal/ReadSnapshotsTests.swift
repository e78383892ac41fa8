import Testing

@testable import PeripheralKit

@Suite(.timeLimit(.minutes(1)))
struct ReadSnapshotsTests {
    private static func request(by number: UInt64, offset: Int = 0) throws -> ReadRequest {
        let address = try #require(DeviceAddress(rawValue: number))
        return ReadRequest(attribute: 3, offset: offset, central: Central(address: address, mtu: 23))
    }

    /// A read by type carries 19 bytes with the smallest MTU.
    @Test(arguments: [(18, false), (19, true), (22, true), (23, true), (512, true)])
    func aValueIsKeptWhenThereWillBeFurtherParts(length: Int, isKept: Bool) throws {
        var snapshots = ReadSnapshots()
        let value = [UInt8](repeating: 1, count: length)
        snapshots.begin(try Self.request(by: 1), with: value, at: .zero)
        #expect(
            snapshots.value(for: try Self.request(by: 1, offset: 22), at: .zero) == (isKept ? value : nil)
        )
        #expect(snapshots.value(for: try Self.request(by: 2, offset: 22), at: .zero) == nil)
    }

    @Test func aShortValueReplacesALongOne() throws {
        var snapshots = ReadSnapshots()
        snapshots.begin(try Self.request(by: 1), with: [UInt8](repeating: 1, count: 100), at: .zero)
        snapshots.begin(try Self.request(by: 1), with: [1], at: .zero)
        #expect(snapshots.value(for: try Self.request(by: 1, offset: 22), at: .zero) == nil)
    }

    @Test func theOldestGivesWay() throws {
        var snapshots = ReadSnapshots(capacity: 2)
        let value = [UInt8](repeating: 1, count: 100)
        snapshots.begin(try Self.request(by: 1), with: value, at: .zero)
        snapshots.begin(try Self.request(by: 2), with: value, at: .zero)
        snapshots.begin(try Self.request(by: 1), with: value, at: .zero)
        snapshots.begin(try Self.request(by: 3), with: value, at: .zero)
        #expect(snapshots.value(for: try Self.request(by: 2), at: .zero) == nil)
        #expect(snapshots.value(for: try Self.request(by: 1), at: .zero) == value)
        #expect(snapshots.value(for: try Self.request(by: 3), at: .zero) == value)
    }

    @Test func aValueIsForgottenWithItsLastPart() throws {
        var snapshots = ReadSnapshots()
        let value = [UInt8](repeating: 1, count: 50)
        snapshots.begin(try Self.request(by: 1), with: value, at: .zero)
        #expect(snapshots.value(for: try Self.request(by: 1, offset: 22), at: .zero) == value)
        #expect(snapshots.value(for: try Self.request(by: 1, offset: 44), at: .zero) == value)
        #expect(snapshots.value(for: try Self.request(by: 1, offset: 22), at: .zero) == nil)
    }

    @Test func aValueIsForgottenAfterAWhile() throws {
        var snapshots = ReadSnapshots()
        let value = [UInt8](repeating: 1, count: 100)
        snapshots.begin(try Self.request(by: 1), with: value, at: .seconds(5))
        #expect(snapshots.value(for: try Self.request(by: 1, offset: 22), at: .seconds(35)) == value)
        #expect(snapshots.value(for: try Self.request(by: 1, offset: 44), at: .seconds(36)) == nil)
    }

    @Test func aCentralThatLeavesIsForgotten() throws {
        var snapshots = ReadSnapshots()
        let value = [UInt8](repeating: 1, count: 100)
        for number: UInt64 in [1, 2] {
            snapshots.begin(try Self.request(by: number), with: value, at: .zero)
        }
        snapshots.forget(try Self.request(by: 1).central.id)
        #expect(snapshots.value(for: try Self.request(by: 1, offset: 22), at: .zero) == nil)
        #expect(snapshots.value(for: try Self.request(by: 2, offset: 22), at: .zero) == value)
    }

    @Test func aReadThatBeginsInTheMiddleLeavesNothing() throws {
        var snapshots = ReadSnapshots()
        let value = [UInt8](repeating: 1, count: 100)
        snapshots.begin(try Self.request(by: 1, offset: 22), with: value, at: .zero)
        #expect(snapshots.value(for: try Self.request(by: 1, offset: 44), at: .zero) == nil)
    }
}
