import Testing

@testable import PeripheralKit

@Suite(.timeLimit(.minutes(1)))
struct ReadSnapshotsTests {
    private static func request(
        by number: UInt64,
        for attribute: UInt16 = 3,
        offset: Int = 0
    ) throws -> BackendReadRequest {
        let address = try #require(DeviceAddress(rawValue: number))
        return BackendReadRequest(
            attribute: AttributeHandle(rawValue: attribute),
            offset: offset,
            central: Central(address: address, mtu: 23)
        )
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

    @Test func manyCentralsReadOnInWhatTheyHaveBegun() throws {
        var snapshots = ReadSnapshots()
        for number: UInt64 in 1...100 {
            let value = [UInt8](repeating: UInt8(number), count: 100)
            for attribute: UInt16 in 1...4 {
                snapshots.begin(try Self.request(by: number, for: attribute), with: value, at: .zero)
            }
        }
        for number: UInt64 in 1...100 {
            for attribute: UInt16 in 1...4 {
                let request = try Self.request(by: number, for: attribute, offset: 22)
                #expect(snapshots.value(for: request, at: .zero)?.first == UInt8(number))
            }
        }
    }

    @Test func whatWasReadLastStays() throws {
        var snapshots = ReadSnapshots()
        let value = [UInt8](repeating: 1, count: 100)
        for attribute: UInt16 in 1...100 {
            snapshots.begin(try Self.request(by: 1, for: attribute), with: value, at: .zero)
            // The read that is under way goes on.
            #expect(
                snapshots.value(for: try Self.request(by: 1, for: 1, offset: 22), at: .zero) == value
            )
        }
        let kept = try (1...100).filter {
            snapshots.value(for: try Self.request(by: 1, for: $0, offset: 22), at: .zero) != nil
        }
        #expect(kept == [1] + Array(94...100))
    }

    /// Only a read by type is not.
    @Test func whatIsCompleteWithTheFirstAnswerGivesWayFirst() throws {
        var snapshots = ReadSnapshots()
        let value = [UInt8](repeating: 1, count: 100)
        snapshots.begin(try Self.request(by: 1, for: 1), with: value, at: .zero)
        for attribute: UInt16 in 2...100 {
            let short = [UInt8](repeating: 1, count: 20)
            snapshots.begin(try Self.request(by: 1, for: attribute), with: short, at: .zero)
        }
        #expect(snapshots.value(for: try Self.request(by: 1, for: 1, offset: 22), at: .zero) == value)
        #expect(snapshots.value(for: try Self.request(by: 1, for: 100, offset: 19), at: .zero) != nil)
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

    /// With private addresses, each visit is that of another central.
    @Test func whatCentralsLeaveBehindIsBounded() throws {
        var snapshots = ReadSnapshots()
        let value = [UInt8](repeating: 1, count: 100)
        // The first two read on; the second left long ago.
        snapshots.begin(try Self.request(by: 1), with: value, at: .seconds(40))
        snapshots.begin(try Self.request(by: 2), with: value, at: .zero)
        for (number, time) in [(1, 40), (2, 1)] as [(UInt64, Int)] {
            let part = try Self.request(by: number, offset: 22)
            #expect(snapshots.value(for: part, at: .seconds(time)) == value)
        }
        for number: UInt64 in 3...1_000 {
            let begin = Duration.seconds(41) + .milliseconds(number)
            snapshots.begin(try Self.request(by: number), with: value, at: begin)
        }
        let kept = try (1...1_000 as ClosedRange<UInt64>).filter {
            // Early enough for all of them: it counts what is kept, not what is too old.
            snapshots.value(for: try Self.request(by: $0, offset: 44), at: .zero) != nil
        }
        let newest = UInt64(1_000 - ReadSnapshots.centralCapacity + 2)
        #expect(kept == [1] + Array(newest...1_000))
    }

    @Test func whenAllReadOnTheOneThatPausedForTheLongestTimeGivesWay() throws {
        var snapshots = ReadSnapshots()
        let value = [UInt8](repeating: 1, count: 100)
        let last = UInt64(ReadSnapshots.centralCapacity)
        for number: UInt64 in 1...last {
            snapshots.begin(try Self.request(by: number), with: value, at: .zero)
            let pause = Duration.milliseconds(number == 7 ? 1 : 1_000)
            #expect(snapshots.value(for: try Self.request(by: number, offset: 22), at: pause) == value)
        }
        snapshots.begin(try Self.request(by: last + 1), with: value, at: .seconds(2))
        for number: UInt64 in 1...(last + 1) {
            let part = try Self.request(by: number, offset: 44)
            #expect((snapshots.value(for: part, at: .seconds(2)) != nil) == (number != 7), "\(number)")
        }
    }

    @Test func aReadThatBeginsInTheMiddleLeavesNothing() throws {
        var snapshots = ReadSnapshots()
        let value = [UInt8](repeating: 1, count: 100)
        snapshots.begin(try Self.request(by: 1, offset: 22), with: value, at: .zero)
        #expect(snapshots.value(for: try Self.request(by: 1, offset: 44), at: .zero) == nil)
    }
}
