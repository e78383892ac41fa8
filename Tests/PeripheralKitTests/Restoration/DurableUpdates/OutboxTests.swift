import PeripheralCore
import Testing

@testable import PeripheralKit

struct OutboxTests {
    private let phones = (1...3).map(DeviceAddress.numbered)

    private func update(_ value: UInt8, for address: DeviceAddress) -> PreservedUpdate {
        PreservedUpdate(characteristic: 3, address: address, value: [value])
    }

    /// The values that are kept for each.
    private func values(_ outbox: Outbox) -> [DeviceAddress: [UInt8]] {
        Dictionary(grouping: outbox.preserved, by: \.address).mapValues { $0.flatMap(\.value) }
    }

    @Test func whatIsKeptAtOnceIsOnePost() {
        var outbox = Outbox([])
        _ = outbox.add([1], of: 3, for: phones, limit: 9)
        _ = outbox.add([1], of: 3, for: phones, limit: 9)
        #expect(outbox.entries.map(\.post) == [1, 1, 1, 2, 2, 2])
        #expect(Set(outbox.entries.map(\.number)).count == 6)
    }

    /// Who lacks only the second of two equal values gets it with the first.
    @Test func whatIsRestoredCanGoAtOnceAgain() {
        var outbox = Outbox([])
        for value in [1, 1, 2] as [UInt8] { _ = outbox.add([value], of: 3, for: phones, limit: 9) }
        _ = outbox.add([2], of: 5, for: phones, limit: 9)
        outbox.remove(1)
        let restored = Outbox(outbox.preserved)
        #expect(restored.preserved == outbox.preserved)
        #expect(restored.entries.map(\.post) == [1, 1, 1, 2, 2, 3, 3, 3, 4, 4, 4])
    }

    /// A restored outbox keeps the order of the values for each central.
    ///
    /// This holds however it groups the values into posts.
    @Test func whatIsRestoredKeepsItsOrder() {
        let updates =
            [1, 2, 1, 2].map { update($0, for: phones[0]) }
            + [1, 1, 2].map { update($0, for: phones[1]) }
        let posts = Dictionary(grouping: Outbox(updates).entries, by: \.key).values.map { $0.map(\.post) }
        for posts in posts { #expect(zip(posts, posts.dropFirst()).allSatisfy { $0 < $1 }) }
    }

    @Test func whoIsKnownByAnotherAddressGetsEachOnce() {
        var outbox = Outbox([update(1, for: phones[0])])
        _ = outbox.add([2], of: 3, for: [phones[0], phones[1]], limit: 9)
        outbox.move(from: phones[1], to: phones[0])
        #expect(values(outbox) == [phones[0]: [1, 2]])
    }

    @Test func whoIsThereLosesNothing() {
        var outbox = Outbox([])
        for value in 1...4 as ClosedRange<UInt8> {
            let dropped = outbox.add([value], of: 3, for: phones, limit: 2, sparing: [phones[1]])
            #expect(dropped == (value > 2 ? 2 : 0))
        }
        #expect(values(outbox) == [phones[0]: [3, 4], phones[1]: [1, 2, 3, 4], phones[2]: [3, 4]])
    }

    @Test func whoDoesNotKeepUpTakesNothingFromOthers() {
        var outbox = Outbox([update(1, for: phones[0])])
        for _ in 0..<PreservedSchema.maximumUpdates {
            _ = outbox.add([2], of: 3, for: [phones[1]], limit: 2, sparing: [phones[1]])
        }
        #expect(outbox.entries.count == PreservedSchema.maximumUpdates)
        #expect(values(outbox)[phones[0]] == [1])
    }
}
