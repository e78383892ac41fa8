import PeripheralCore
import PeripheralKit
import PeripheralTesting
import Synchronization
import TestSupport
import Testing

/// How centrals pair with the server, as recorded of bluetoothd 5.66 on Linux 6.1.
@Suite(.timeLimit(.minutes(1)))
struct PairingTests {
    /// An attribute for each level, from 0x0017 on.
    private static func makeFixture(clock: any Clock<Duration> = ContinuousClock()) throws -> ServerFixture {
        let characteristics = SecurityLevel.allCases.map { level in
            CharacteristicDescription(uuid: 0x2A19, properties: .read, security: AttributeSecurity(level))
        }
        return try ServerFixture(
            [ServiceDescription(uuid: 0x180F, characteristics: characteristics)],
            clock: clock
        )
    }

    /// The highest level of an attribute that the central can read.
    private static func level(of central: VirtualCentral) async throws -> SecurityLevel? {
        var reached: SecurityLevel?
        for (index, level) in SecurityLevel.allCases.enumerated() {
            do {
                _ = try await central.read(AttributeHandle(rawValue: 0x0017 + 2 * UInt16(index)), offset: 0)
                reached = level
            } catch is ATTError {
                break
            }
        }
        return reached
    }

    private static func code(_ pairing: () async throws -> Void) async -> TestCentralError.Code? {
        do {
            try await pairing()
            return nil
        } catch {
            return (error as? TestCentralError)?.code
        }
    }

    @Test func withoutAnAgentNobodyPairs() async throws {
        let fixture = try Self.makeFixture()
        let central = fixture.makeCentral()
        try await central.connect()
        #expect(await Self.code { try await central.pair(.justWorks) } == .pairingFailed)
        #expect(try await Self.level(of: central) == .open)
        #expect(fixture.server.bondedCentrals.isEmpty)
    }

    @Test(arguments: [true, false])
    func justWorksIsAuthorized(accepts: Bool) async throws {
        let fixture = try Self.makeFixture()
        let agent = TestAgent(accepts: accepts)
        fixture.server.setPairingAgent(agent)
        let central = fixture.makeCentral()
        try await central.connect()
        let code = await Self.code { try await central.pair(.justWorks) }
        #expect(code == (accepts ? nil : .pairingFailed))
        #expect(agent.questions == ["authorize"])
        #expect(try await Self.level(of: central) == (accepts ? .encrypted : .open))
        #expect(fixture.server.bondedCentrals.map(\.address) == (accepts ? [central.address] : []))
    }

    @Test(arguments: [(true, SecurityLevel.secureConnections), (false, .authenticated)])
    func displayedPasskeyAuthenticates(secureConnections: Bool, level: SecurityLevel) async throws {
        let fixture = try Self.makeFixture()
        let agent = TestAgent(.displayOnly)
        fixture.server.setPairingAgent(agent)
        let central = fixture.makeCentral()
        try await central.connect()
        var user = PairingUser.entering { await agent.displayed.first() }
        user.secureConnections = secureConnections
        try await central.pair(user)
        #expect(agent.questions == ["display"])
        #expect(try await Self.level(of: central) == level)
    }

    @Test func enteredPasskeyAuthenticates() async throws {
        let fixture = try Self.makeFixture()
        let (shown, show) = AsyncStream<UInt32>.makeStream()
        let agent = TestAgent(.keyboardOnly, passkey: { await shown.first() })
        fixture.server.setPairingAgent(agent)
        let central = fixture.makeCentral()
        try await central.connect()
        try await central.pair(.reading { show.yield($0) })
        #expect(agent.questions == ["enter"])
        #expect(try await Self.level(of: central) == .secureConnections)
    }

    @Test func numbersAreCompared() async throws {
        let fixture = try Self.makeFixture()
        let agent = TestAgent(.displayYesNo)
        fixture.server.setPairingAgent(agent)
        let central = fixture.makeCentral()
        try await central.connect()
        try await central.pair(.confirming { number in await agent.displayed.first() == number })
        #expect(try await Self.level(of: central) == .secureConnections)
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var agent: TestAgent
        var user: PairingUser
        var endsLink = false
    }

    static let refusals = [
        Refusal(
            testDescription: "wrong passkey on the central",
            agent: TestAgent(.displayOnly),
            user: .entering { 1_000_000 }
        ),
        Refusal(
            testDescription: "wrong passkey on the peripheral",
            agent: TestAgent(.keyboardOnly, passkey: { 1_000_000 }),
            user: .reading { _ in }
        ),
        Refusal(
            testDescription: "the peripheral enters none",
            agent: TestAgent(.keyboardOnly),
            user: .reading { _ in }
        ),
        Refusal(
            testDescription: "the central enters none",
            agent: TestAgent(.displayOnly),
            user: .entering { nil },
            endsLink: true
        ),
        Refusal(
            testDescription: "the central sees another number",
            agent: TestAgent(.displayYesNo),
            user: .confirming { _ in false },
            endsLink: true
        ),
        Refusal(
            testDescription: "the peripheral sees another number",
            agent: TestAgent(.displayYesNo, accepts: false),
            user: .confirming()
        ),
        Refusal(
            testDescription: "no way to authenticate",
            agent: TestAgent(.displayOnly),
            user: .confirming()
        ),
    ]

    @Test(arguments: refusals) func eitherSideRefuses(_ refusal: Refusal) async throws {
        let fixture = try Self.makeFixture()
        fixture.server.setPairingAgent(refusal.agent)
        let central = fixture.makeCentral()
        try await central.connect()
        #expect(await Self.code { try await central.pair(refusal.user) } == .pairingFailed)
        #expect(fixture.server.centrals.isEmpty == refusal.endsLink)
        #expect(fixture.server.bondedCentrals.isEmpty)
        if !refusal.endsLink { #expect(try await Self.level(of: central) == .open) }
    }

    @Test func protectionIsNotPromisedByThoseWhoHaveNothing() async throws {
        let fixture = try Self.makeFixture()
        fixture.server.setPairingAgent(TestAgent(.noInputNoOutput))
        let central = fixture.makeCentral()
        try await central.connect()
        try await central.pair(.confirming())
        #expect(try await Self.level(of: central) == .encrypted)
    }

    @Test func withoutBondingNothingIsKept() async throws {
        let fixture = try Self.makeFixture()
        fixture.server.setPairingAgent(TestAgent())
        fixture.server.isPairable = false
        let central = fixture.makeCentral()
        try await central.connect()
        var user = PairingUser.justWorks
        let error = await #expect(throws: TestCentralError.self) { try await central.pair(user) }
        #expect(error?.code == .pairingFailed)
        #expect(
            error?.message == "The peripheral declares a pairing method, but no pairing window is open. "
                + "Open one with session.allowPairing(for:)."
        )
        user.isBonding = false
        try await central.pair(user)
        #expect(try await Self.level(of: central) == .encrypted)
        central.disconnect()
        try await central.connect()
        #expect(try await Self.level(of: central) == .open)
    }

    /// The message is the same whether the adapter is pairable or not.
    @Test(arguments: [false, true])
    func withoutAMethodNobodyPairs(isPairable: Bool) async throws {
        let fixture = try Self.makeFixture()
        fixture.server.isPairable = isPairable
        let central = fixture.makeCentral()
        try await central.connect()
        let error = await #expect(throws: TestCentralError.self) { try await central.pair(.justWorks) }
        #expect(error?.code == .pairingFailed)
        #expect(
            error?.message == "The peripheral declares no pairing method of its own, so no central can pair. "
                + "Declare one, such as pairing: .justWorks."
        )
    }

    @Test func nobodyWaitsForever() async throws {
        let clock = ManualClock()
        let fixture = try Self.makeFixture(clock: clock)
        let (nothing, _) = AsyncStream<UInt32>.makeStream()
        fixture.server.setPairingAgent(TestAgent(.keyboardOnly, passkey: { await nothing.first() }))
        let central = fixture.makeCentral()
        try await central.connect()
        async let code = Self.code { try await central.pair(.reading { _ in }) }
        await clock.waitForSleeper()
        clock.advance(by: .seconds(30))
        #expect(await code == .pairingFailed)
        #expect(fixture.server.centrals.isEmpty)
    }

    @Test func aQuestionEndsWithTheConnection() async throws {
        let fixture = try Self.makeFixture()
        let (asked, ask) = AsyncStream<Void>.makeStream()
        let (nothing, _) = AsyncStream<UInt32>.makeStream()
        let agent = TestAgent(
            .keyboardOnly,
            passkey: {
                ask.yield()
                return await nothing.first()
            }
        )
        fixture.server.setPairingAgent(agent)
        let central = fixture.makeCentral()
        try await central.connect()
        async let code = Self.code { try await central.pair(.reading { _ in }) }
        await asked.first()
        central.disconnect()
        #expect(await code == .disconnected)
    }

    // MARK: Bonds

    @Test func aBondOutlivesTheConnection() async throws {
        let fixture = try Self.makeFixture()
        fixture.server.setPairingAgent(TestAgent())
        let events = Mutex<[ConnectionEvent]>([])
        _ = fixture.server.observeConnections { event in events.withLock { $0.append(event) } }
        let central = fixture.makeCentral()
        try await central.connect(mtu: 100)
        try await central.pair(.justWorks)
        central.disconnect()
        try await central.connect(mtu: 23)
        #expect(try await Self.level(of: central) == .encrypted)
        let identity = Central(address: central.address)
        #expect(
            events.withLock(\.self) == [
                .connected(identity), .secured(identity, .encrypted), .paired(identity, isBonded: true),
                .disconnected(identity, DisconnectionReason(code: 0x13)), .connected(identity),
                .secured(identity, .encrypted),
            ]
        )
    }

    @Test func theCentralForgets() async throws {
        let fixture = try Self.makeFixture()
        let agent = TestAgent(.displayYesNo)
        fixture.server.setPairingAgent(agent)
        let central = fixture.makeCentral()
        try await central.connect()
        try await central.pair(.confirming())
        central.forgetBond()
        #expect(try await Self.level(of: central) == .secureConnections)
        central.disconnect()
        try await central.connect()
        #expect(try await Self.level(of: central) == .open)
        // Any device could claim to be that central, so Just Works cannot replace the bond.
        #expect(await Self.code { try await central.pair(.justWorks) } == .pairingFailed)
        try await central.pair(.confirming())
        #expect(try await Self.level(of: central) == .secureConnections)
    }

    @Test func theServerForgets() async throws {
        let fixture = try Self.makeFixture()
        fixture.server.setPairingAgent(TestAgent())
        let central = fixture.makeCentral()
        try await central.connect()
        try await central.pair(.justWorks)
        fixture.server.forget(central.address)
        #expect(fixture.server.centrals.isEmpty)
        #expect(fixture.server.bondedCentrals.isEmpty)
        try await central.connect()
        #expect(try await Self.level(of: central) == .open)
        try await central.pair(.justWorks)
        #expect(try await Self.level(of: central) == .encrypted)
    }

    @Test func bondsOutliveTheStack() async throws {
        let fixture = try Self.makeFixture()
        fixture.server.setPairingAgent(TestAgent())
        let central = fixture.makeCentral()
        try await central.connect()
        try await central.pair(.justWorks)
        fixture.server.reset()
        #expect(fixture.server.bondedCentrals.map(\.address) == [central.address])
        _ = fixture.server.advertise(VirtualAdvertisement(advertisingData: [], scanResponse: []))
        central.disconnect()
        try await central.connect()
        #expect(fixture.server.security(of: central.address) == .encrypted)
    }
}
