import PeripheralCore
import PeripheralKit
import Testing

@testable import PeripheralBlueZ

@Suite(.timeLimit(.minutes(1)))
struct SecuredSubscribersTests {
    private static let value: AttributeHandle = 3
    private static let levels = SecurityLevel.allCases.filter { $0 > .open }

    private let phone: Central
    private let stranger: Central

    init() throws {
        phone = Central(address: try #require(DeviceAddress(rawValue: 1)), isBonded: true)
        stranger = Central(address: try #require(DeviceAddress(rawValue: 2)))
    }

    private func link(_ central: Central, encrypted: Bool) -> LinkState {
        LinkState(address: central.address, isEncrypted: encrypted)
    }

    private func insecure(
        _ subscribers: SecuredSubscribers,
        _ links: [LinkState]?,
        at level: SecurityLevel = .encrypted
    ) -> Set<Central.ID> {
        subscribers.insecure(for: Self.value, at: level, links: links).centrals
    }

    private func subscribed(_ central: Central, at level: SecurityLevel = .encrypted) -> SecuredSubscribers {
        var subscribers = SecuredSubscribers()
        subscribers.subscribed(central, to: Self.value, at: level)
        return subscribers
    }

    /// The phone has subscribed, left, and is back.
    private func returned(at level: SecurityLevel = .encrypted) -> SecuredSubscribers {
        var subscribers = subscribed(phone, at: level)
        subscribers.disconnected(phone)
        subscribers.connected(phone)
        return subscribers
    }

    @Test(arguments: levels)
    func bluetoothdHasCheckedTheLinkOfWhoHasJustSubscribed(level: SecurityLevel) {
        let subscribers = subscribed(phone, at: level)
        #expect(insecure(subscribers, nil, at: level).isEmpty)
        #expect(insecure(subscribers, [link(phone, encrypted: true)], at: level).isEmpty)
    }

    @Test(arguments: levels)
    func whoIsBackHasToEncrypt(level: SecurityLevel) {
        let subscribers = returned(at: level)
        #expect(insecure(subscribers, [link(phone, encrypted: false)], at: level) == [phone.id])
        #expect(insecure(subscribers, [link(phone, encrypted: true)], at: level).isEmpty)
    }

    /// The kernel sees it first.
    @Test func whoIsBackUnannouncedHasToEncrypt() {
        var subscribers = subscribed(phone)
        subscribers.disconnected(phone)
        #expect(insecure(subscribers, [link(phone, encrypted: false)]) == [phone.id])
        #expect(insecure(subscribers, [link(stranger, encrypted: false)]).isEmpty)
    }

    @Test(arguments: levels)
    func withoutTheKernelWhoIsBackHasToProveTheLevel(level: SecurityLevel) {
        var subscribers = returned(at: level)
        #expect(insecure(subscribers, nil, at: level) == [phone.id])
        subscribers.served(phone, at: .open)
        #expect(insecure(subscribers, nil, at: level) == [phone.id])
        subscribers.served(phone, at: level)
        #expect(insecure(subscribers, nil, at: level).isEmpty)
    }

    @Test(arguments: [true, false])
    func twoLinksOfOneAddressHaveToBeEncrypted(isFirst: Bool) {
        let links = [link(phone, encrypted: isFirst), link(phone, encrypted: !isFirst)]
        #expect(insecure(returned(), links) == [phone.id])
    }

    @Test func anAddressThatWasLearnedLaterIsTheSameCentral() throws {
        let lasting = try #require(DeviceAddress(rawValue: 9))
        let bonded = Central(address: lasting, isBonded: true, id: stranger.id)
        var subscribers = subscribed(stranger)
        subscribers.connected(bonded)
        subscribers.disconnected(bonded)
        #expect(
            insecure(subscribers, [LinkState(address: lasting, isEncrypted: false)]) == [stranger.id]
        )
    }

    @Test func strangersWhoHaveNotSubscribedAreNotChecked() {
        var subscribers = subscribed(phone)
        subscribers.connected(stranger)
        subscribers.served(stranger, at: .encrypted)
        let links = [link(phone, encrypted: true), link(stranger, encrypted: false)]
        #expect(insecure(subscribers, links).isEmpty)
    }

    /// bluetoothd has cleared what it had subscribed to.
    @Test func whoLeavesWithoutABondIsNotChecked() {
        var subscribers = subscribed(stranger)
        subscribers.disconnected(stranger)
        subscribers.connected(stranger)
        #expect(insecure(subscribers, [link(stranger, encrypted: false)]).isEmpty)
    }

    /// Its new keys may be those of Just Works.
    @Test(arguments: levels)
    func whoWasForgottenHasNothingProven(level: SecurityLevel) {
        var subscribers = subscribed(phone, at: level)
        subscribers.disconnected(phone)
        subscribers.forgotten(phone.id)
        subscribers.connected(stranger)
        #expect(insecure(subscribers, [link(phone, encrypted: false)], at: level) == [phone.id])
        let remaining = insecure(subscribers, [link(phone, encrypted: true)], at: level)
        #expect(remaining.isEmpty == (level == .encrypted))
        subscribers.served(phone, at: level)
        #expect(insecure(subscribers, [link(phone, encrypted: true)], at: level).isEmpty)
    }

    @Test(arguments: levels, levels)
    func newKeysProveNoMoreThanTheirPairing(level: SecurityLevel, pairing: SecurityLevel) {
        var subscribers = returned(at: level)
        subscribers.mayPair(phone.id, at: pairing)
        let remaining = insecure(subscribers, [link(phone, encrypted: true)], at: level)
        #expect(remaining.isEmpty == (pairing >= level))
    }

    @Test func whoHasSubscribedUnseenMayBeAnybody() {
        var subscribers = SecuredSubscribers()
        subscribers.strangerSubscribed(to: Self.value)
        func isInsecure(_ links: [LinkState]?, at level: SecurityLevel = .encrypted) -> Bool {
            subscribers.insecure(for: Self.value, at: level, links: links).includesStrangers
        }
        #expect(isInsecure(nil))
        #expect(isInsecure([link(phone, encrypted: true), link(stranger, encrypted: false)]))
        #expect(!isInsecure([link(phone, encrypted: true)]))
        #expect(isInsecure([link(phone, encrypted: true)], at: .authenticated))
        subscribers.strangersUnsubscribed(from: Self.value)
        #expect(!isInsecure(nil))
    }
}
