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
        history.changed(known)
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
}
