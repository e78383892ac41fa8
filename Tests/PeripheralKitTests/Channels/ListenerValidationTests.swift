import PeripheralKit
import Testing

struct ListenerValidationTests {
    private static func issues(_ listeners: L2CAPListener..., pairing: Pairing = .none) -> [DeclarationIssue]
    {
        Peripheral("Channels", pairing: pairing) {
            GATTService(0x180F) { for listener in listeners { listener.psm } }
            for listener in listeners { listener }
        }.validate().filter { $0.severity == .error }
    }

    private static func listener(_ psm: L2CAPListener.PSM = .any, mtu: Int = 2048) -> L2CAPListener {
        L2CAPListener(psm: psm, mtu: mtu) { _ in }
    }

    @Test(arguments: [0x25, 0x7F, 0x80, 0xFF] as [UInt16])
    func possibleNumbersAreAccepted(number: UInt16) {
        #expect(Self.issues(Self.listener(.fixed(number))) == [])
        #expect(Self.issues(Self.listener(.preferred(number))) == [])
    }

    @Test(arguments: [0, 1, 0x24, 0x100, 0xFFFF] as [UInt16])
    func impossibleNumbersAreErrors(number: UInt16) {
        for psm in [L2CAPListener.PSM.fixed(number), .preferred(number)] {
            let issues = Self.issues(Self.listener(psm))
            #expect(issues.map(\.element) == ["L2CAP listener 1"])
            #expect(
                issues.allSatisfy { $0.reason.contains("0x\(String(number, radix: 16, uppercase: true))") }
            )
        }
    }

    @Test(arguments: [22, 65_536, -1])
    func impossibleMTUIsAnError(mtu: Int) {
        #expect(Self.issues(Self.listener(mtu: mtu)).map(\.reason) == ["its MTU is \(mtu) bytes"])
    }

    @Test(arguments: [23, 65_535])
    func possibleMTUIsAccepted(mtu: Int) {
        #expect(Self.issues(Self.listener(mtu: mtu)) == [])
    }

    @Test func equalFixedNumbersAreAnError() {
        let issues = Self.issues(Self.listener(.preferred(0x90)), Self.listener(.fixed(0x90)))
        #expect(issues.map(\.element) == ["L2CAP listener 2"])
        #expect(issues.map(\.reason) == ["L2CAP listener 1 requests the same PSM"])
        #expect(Self.issues(Self.listener(.fixed(0x90)), Self.listener(.preferred(0x90))) == [])
    }

    @Test func theSameListenerTwiceIsAnError() {
        let listener = Self.listener()
        let peripheral = Peripheral("Channels") {
            GATTService(0x180F) { listener.psm }
            listener
            listener
        }
        #expect(
            peripheral.validate().map(\.reason) == [
                "the same listener is already declared as L2CAP listener 1"
            ]
        )
    }

    @Test func numberOfAMissingListenerIsAnError() {
        let peripheral = Peripheral("Channels") { GATTService(0x180F) { Self.listener().psm } }
        let issues = peripheral.validate()
        #expect(issues.map(\.severity) == [.error])
        #expect(issues.first?.remedy == "add the L2CAPListener to the Peripheral")
    }

    @Test func securityNeedsPairing() {
        let listener = L2CAPListener(security: .encrypted) { _ in }
        #expect(Self.issues(listener).map(\.element) == ["L2CAP listener 1"])
        #expect(Self.issues(listener, pairing: .justWorks) == [])
    }

    @Test func limitsPermitSomething() {
        let none = ChannelLimits(channelsPerCentral: 0, channels: 1)
        #expect(Self.issues(L2CAPListener(limits: none) { _ in }).count == 1)
        let small = ChannelLimits(bufferedBytes: 4095)
        #expect(Self.issues(L2CAPListener(limits: small) { _ in }).count == 1)
    }

    @Test func numberIsReadable() {
        #expect(L2CAPListener.PSM.any.description == "any PSM")
        #expect(L2CAPListener.PSM.fixed(0xC5).description == "0xC5")
        #expect(L2CAPListener.PSM.preferred(0xC5).description == "0xC5 if free")
    }
}
