import PeripheralCore
import PeripheralKit
import Testing

@testable import PeripheralBlueZ

@Suite(.timeLimit(.minutes(1)))
struct SecuredReceiversTests {
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
        _ receivers: SecuredReceivers,
        _ links: [LinkState]?,
        at level: SecurityLevel = .encrypted
    ) -> Set<Central.ID> {
        receivers.insecure(for: Self.value, at: level, links: links).centrals
    }

    private func subscribed(_ central: Central, at level: SecurityLevel = .encrypted) -> SecuredReceivers {
        var receivers = SecuredReceivers()
        receivers.subscribed(central, to: Self.value, at: level)
        return receivers
    }

    /// The phone has subscribed, left, and is back.
    private func returned(at level: SecurityLevel = .encrypted) -> SecuredReceivers {
        var receivers = subscribed(phone, at: level)
        receivers.disconnected(phone)
        receivers.connected(phone)
        return receivers
    }

    @Test(arguments: levels)
    func bluetoothdHasCheckedTheLinkOfWhoHasJustSubscribed(level: SecurityLevel) {
        let receivers = subscribed(phone, at: level)
        #expect(insecure(receivers, nil, at: level).isEmpty)
        #expect(insecure(receivers, [link(phone, encrypted: true)], at: level).isEmpty)
    }

    @Test(arguments: levels)
    func whoIsBackHasToEncrypt(level: SecurityLevel) {
        let receivers = returned(at: level)
        #expect(insecure(receivers, [link(phone, encrypted: false)], at: level) == [phone.id])
        #expect(insecure(receivers, [link(phone, encrypted: true)], at: level).isEmpty)
    }

    /// The kernel sees it first.
    @Test func whoIsBackUnannouncedHasToEncrypt() {
        var receivers = subscribed(phone)
        receivers.disconnected(phone)
        #expect(insecure(receivers, [link(phone, encrypted: false)]) == [phone.id])
        #expect(insecure(receivers, [link(stranger, encrypted: false)]).isEmpty)
    }

    @Test(arguments: levels)
    func withoutTheKernelWhoIsBackHasToProveTheLevel(level: SecurityLevel) {
        var receivers = returned(at: level)
        #expect(insecure(receivers, nil, at: level) == [phone.id])
        receivers.served(phone, at: .open)
        #expect(insecure(receivers, nil, at: level) == [phone.id])
        receivers.served(phone, at: level)
        #expect(insecure(receivers, nil, at: level).isEmpty)
    }

    @Test(arguments: [true, false])
    func twoLinksOfOneAddressHaveToBeEncrypted(isFirst: Bool) {
        let links = [link(phone, encrypted: isFirst), link(phone, encrypted: !isFirst)]
        #expect(insecure(returned(), links) == [phone.id])
    }

    @Test func anAddressThatWasLearnedLaterIsTheSameCentral() throws {
        let lasting = try #require(DeviceAddress(rawValue: 9))
        let bonded = Central(address: lasting, isBonded: true, id: stranger.id)
        var receivers = subscribed(stranger)
        receivers.connected(bonded)
        receivers.disconnected(bonded)
        #expect(
            insecure(receivers, [LinkState(address: lasting, isEncrypted: false)]) == [stranger.id]
        )
    }

    @Test func strangersWhoHaveNotSubscribedAreNoReceivers() {
        var receivers = subscribed(phone)
        receivers.connected(stranger)
        receivers.served(stranger, at: .encrypted)
        let links = [link(phone, encrypted: true), link(stranger, encrypted: false)]
        #expect(insecure(receivers, links).isEmpty)
    }

    /// bluetoothd has cleared what it had subscribed to.
    @Test func whoLeavesWithoutABondIsNoReceiver() {
        var receivers = subscribed(stranger)
        receivers.disconnected(stranger)
        receivers.connected(stranger)
        #expect(insecure(receivers, [link(stranger, encrypted: false)]).isEmpty)
    }

    /// Its new keys may be those of Just Works.
    @Test(arguments: levels)
    func whoWasForgottenHasNothingProven(level: SecurityLevel) {
        var receivers = subscribed(phone, at: level)
        receivers.disconnected(phone)
        receivers.forgotten(phone.id)
        receivers.connected(stranger)
        #expect(insecure(receivers, [link(phone, encrypted: false)], at: level) == [phone.id])
        let remaining = insecure(receivers, [link(phone, encrypted: true)], at: level)
        #expect(remaining.isEmpty == (level == .encrypted))
        receivers.served(phone, at: level)
        #expect(insecure(receivers, [link(phone, encrypted: true)], at: level).isEmpty)
    }

    @Test(arguments: levels, levels)
    func newKeysProveNoMoreThanTheirPairing(level: SecurityLevel, pairing: SecurityLevel) {
        var receivers = returned(at: level)
        receivers.mayPair(phone.id, at: pairing)
        let remaining = insecure(receivers, [link(phone, encrypted: true)], at: level)
        #expect(remaining.isEmpty == (pairing >= level))
    }

    @Test func whoHasSubscribedUnseenMayBeAnybody() {
        var receivers = SecuredReceivers()
        receivers.strangerSubscribed(to: Self.value)
        func isInsecure(_ links: [LinkState]?, at level: SecurityLevel = .encrypted) -> Bool {
            receivers.insecure(for: Self.value, at: level, links: links).includesStrangers
        }
        #expect(isInsecure(nil))
        #expect(isInsecure([link(phone, encrypted: true), link(stranger, encrypted: false)]))
        #expect(!isInsecure([link(phone, encrypted: true)]))
        #expect(isInsecure([link(phone, encrypted: true)], at: .authenticated))
        receivers.strangersUnsubscribed(from: Self.value)
        #expect(!isInsecure(nil))
    }
}
