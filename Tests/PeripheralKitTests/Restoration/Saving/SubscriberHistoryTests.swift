import PeripheralCore
import Testing

@testable import PeripheralKit

/// Who has subscribed, under which address, and since when.
@Suite(.timeLimit(.minutes(1)))
struct SubscriberHistoryTests {
    private static let handle = AttributeHandle(rawValue: 3)
    private static let identity = DeviceAddress.numbered(7)

    private let bonded = Central(address: identity, isBonded: true)

    /// One that was subscribed at the time 5.
    private var history: SubscriberHistory {
        let subscriber = RestoredSubscriber(
            central: bonded,
            characteristic: 0x2A1A,
            kind: nil,
            since: .seconds(5),
            status: .expected,
            identity: nil
        )
        return SubscriberHistory([.init(subscriber: subscriber, handle: Self.handle, since: 5)])
    }

    @Test func whoReturnsHasBeenSubscribedAllTheTime() {
        var history = history
        _ = history.subscribed(bonded, to: Self.handle, kind: nil, at: 10)
        #expect(history.preserved.map(\.since) == [5])
    }

    @Test func whoSubscribesAnewIsSubscribedSinceThen() {
        var history = history
        _ = history.subscribed(bonded, to: Self.handle, kind: nil, at: 10)
        _ = history.unsubscribed(Self.identity, from: Self.handle)
        #expect(history.preserved.isEmpty)
        _ = history.subscribed(bonded, to: Self.handle, kind: nil, at: 20)
        #expect(history.preserved.map(\.since) == [20])
    }

    @Test func whoShowsItsAddressIsKnownByThat() {
        var history = SubscriberHistory([])
        let stranger = Central(address: .numbered(8))
        _ = history.subscribed(stranger, to: Self.handle, kind: .indication, at: 10)
        _ = history.subscribed(Central(address: .numbered(9)), to: Self.handle, kind: nil, at: 11)
        let known = Central(address: Self.identity, addressKind: .public, isBonded: true, id: stranger.id)
        #expect(history.moved(from: stranger.address, to: known).isEmpty)
        #expect(history.changed(known).isEmpty)
        #expect(history.preserved.map(\.address) == [Self.identity, .numbered(9)])
        #expect(history.preserved.map(\.isBonded) == [true, false])
        #expect(history.preserved.map(\.addressKind) == [.public, nil])
        #expect(history.preserved.map(\.since) == [10, 11])
    }

    @Test func whoIsExpectedByTheAddressReturnsWithIt() {
        var history = history
        let stranger = Central(address: .numbered(8))
        _ = history.subscribed(stranger, to: Self.handle, kind: .indication, at: 10)
        let known = Central(address: Self.identity, isBonded: true, id: stranger.id)
        #expect(history.moved(from: stranger.address, to: known).map(\.status) == [.subscribed])
        #expect(history.preserved.map(\.address) == [Self.identity])
        #expect(history.preserved.map(\.kind) == [.indication])
    }

    @Test func whoIsBackIsNotExpected() {
        var history = history
        #expect(history.changed(bonded).map(\.status) == [.mustSubscribeAgain])
        #expect(history.changed(bonded).isEmpty)
        // It may subscribe at any moment, and gets what it has missed.
        #expect(history.addresses(of: Self.handle) == [Self.identity])
        #expect(history.disconnected(Self.identity).map(\.status) == [.expected])
        #expect(history.changed(bonded).map(\.status) == [.mustSubscribeAgain])
        #expect(history.suspended().map(\.status) == [.expected])
        _ = history.changed(bonded)
        let told = history.subscribed(bonded, to: Self.handle, kind: nil, at: 10)
        #expect(told.map(\.status) == [.subscribed])
    }

    @Test func whoIsBondedWithAnotherAdapterIsKept() {
        var history = history
        #expect(history.published(on: .numbered(1)).isEmpty)
        #expect(history.published(on: .numbered(2)).map(\.status) == [.mustSubscribeAgain])
        #expect(!history.isExpecting && history.addresses(of: Self.handle).isEmpty)
        // This adapter does not know it.
        #expect(history.bonded([]).isEmpty)
        #expect(history.preserved.map(\.adapter) == [.numbered(1)])
        #expect(history.published(on: .numbered(1)).map(\.status) == [.expected])
        #expect(history.isExpecting)
    }

    /// As many as are preserved, of which the first `away` are away, and the others are not.
    private func full(away: Int) -> SubscriberHistory {
        let restored = (0..<away).map { number in
            let central = Central(address: Self.many(number), isBonded: true)
            return SubscriberHistory.Restored(
                subscriber: RestoredSubscriber(
                    central: central,
                    characteristic: 0x2A1A,
                    kind: nil,
                    since: .seconds(5),
                    status: .expected,
                    identity: nil
                ),
                handle: Self.handle,
                since: 5
            )
        }
        var history = SubscriberHistory(restored)
        for number in away..<PreservedSchema.maximumSubscribers {
            let central = Central(address: Self.many(number), isBonded: true)
            _ = history.subscribed(central, to: Self.handle, kind: nil, at: 6)
        }
        return history
    }

    private static func many(_ number: Int) -> DeviceAddress {
        DeviceAddress(rawValue: 0xC0FF_EE10_0000 | UInt64(number)) ?? identity
    }

    @Test func whoHasBeenAwayTheLongestIsExpectedNoLongerWhenThereAreTooMany() {
        var history = full(away: 2)
        // The first was here in the meantime.
        let first = Central(address: Self.many(0), isBonded: true)
        _ = history.subscribed(first, to: Self.handle, kind: nil, at: 7)
        _ = history.disconnected(first.address)
        let told = history.subscribed(bonded, to: Self.handle, kind: nil, at: 8)
        #expect(told.map(\.central.address) == [Self.many(1)])
        #expect(told.map(\.status) == [.mustSubscribeAgain])
        #expect(history.preserved.count == PreservedSchema.maximumSubscribers)
        #expect(history.preserved.contains { $0.address == Self.identity })
        #expect(history.preserved.contains { $0.address == first.address })
    }

    @Test func whoIsNotExpectedAnyMoreTakesNoRoom() {
        var history = full(away: 2)
        _ = history.bonded([Self.many(1)])
        // One is history now, so that there is room for another one.
        #expect(history.subscribed(bonded, to: Self.handle, kind: nil, at: 8).isEmpty)
        #expect(history.preserved.contains { $0.address == Self.many(1) })
    }
}
