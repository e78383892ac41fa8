import PeripheralCore
import Testing

@testable import PeripheralKit

@Suite(.timeLimit(.minutes(1)))
struct CentralRegisterTests {
    private static let address = DeviceAddress.numbered(1)
    private let central = Central(address: address)
    private let other = Central(address: .numbered(2))

    private func subscription(
        of central: Central?,
        to handle: AttributeHandle = 3,
        kind: UpdateKind? = .notification
    ) -> Subscription {
        Subscription(characteristic: 0x2A19, central: central, kind: kind, handle: handle)
    }

    @Test func aCentralConnectsOnce() {
        var register = CentralRegister()
        #expect(register.connected(central) == [.connected(central)])
        #expect(register.connected(central) == [])
        #expect(register.centrals == [central])
    }

    @Test func whatChangesIsToldAndKept() {
        var register = CentralRegister()
        _ = register.connected(central)
        _ = register.subscribed(subscription(of: central))
        let grown = Central(address: Self.address, isBonded: true, mtu: 185)
        #expect(register.connected(grown) == [.changed(grown)])
        #expect(register.centrals.map(\.mtu) == [185])
        #expect(register.subscriptions.map(\.central?.mtu) == [185])
        #expect(register.subscriptions.map(\.central?.isBonded) == [true])
    }

    @Test func whoLeavesEndsItsSubscriptions() {
        var register = CentralRegister()
        _ = register.connected(central)
        _ = register.connected(other)
        for who in [central, other] { _ = register.subscribed(subscription(of: who)) }
        _ = register.subscribed(subscription(of: central, to: 6))
        #expect(
            register.disconnected(central.id, because: .unknown) == [
                .unsubscribed(subscription(of: central)),
                .unsubscribed(subscription(of: central, to: 6)),
                .disconnected(central, reason: .unknown),
            ]
        )
        #expect(register.subscriptions == [subscription(of: other)])
        #expect(register.disconnected(central.id, because: .unknown) == [])
    }

    @Test func aSubscriptionEndsWithTheNextOfTheSameCentral() {
        var register = CentralRegister()
        #expect(register.subscribed(subscription(of: central)) == [.subscribed(subscription(of: central))])
        let indications = subscription(of: central, kind: .indication)
        #expect(
            register.subscribed(indications) == [
                .unsubscribed(subscription(of: central)), .subscribed(indications),
            ]
        )
        #expect(register.subscriptions(to: 3) == [indications])
    }

    @Test func whatChangesAboutASubscriptionIsTold() {
        var register = CentralRegister()
        #expect(register.changed(subscription(of: central)) == [])
        _ = register.subscribed(subscription(of: central))
        #expect(register.changed(subscription(of: central)) == [])
        let indications = subscription(of: central, kind: .indication)
        #expect(register.changed(indications) == [.subscribed(indications)])
        #expect(register.subscriptions(to: 3) == [indications])
        #expect(register.hasSubscribers(3))
        #expect(!register.hasSubscribers(4))
    }

    @Test func thoseThatNobodyNamesEndTogether() {
        var register = CentralRegister()
        #expect(register.subscribed(subscription(of: nil)) == [.subscribed(subscription(of: nil))])
        #expect(register.subscribed(subscription(of: nil)) == [])
        _ = register.subscribed(subscription(of: central))
        #expect(register.unsubscribed(3, by: nil) == [.unsubscribed(subscription(of: nil))])
        #expect(register.subscriptions == [subscription(of: central)])
        #expect(register.unsubscribed(3, by: central.id) == [.unsubscribed(subscription(of: central))])
    }
}
