import PeripheralBlueZ
import PeripheralDBus
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// Centrals that pair as the program has declared, or not at all.
@Suite(.timeLimit(.minutes(1)))
struct PairingTests {
    private static let secret = Characteristic<UInt8>(0x2A19, .read, security: .encrypted) { Read { 42 } }
    private static let open = Characteristic<UInt8>(0x2A38, value: 1)

    /// With something that only a central may read that has paired.
    private static func peripheral(_ pairing: Pairing) -> Peripheral {
        Peripheral("Safe", pairing: pairing) {
            GATTService(.battery) {
                secret; open
            }
        }
    }

    private static func run(
        _ pairing: Pairing,
        _ configuration: EmulatedBlueZ.Configuration = .init(),
        _ body: @escaping @Sendable (EmulatedBlueZ, VirtualCentral) async throws -> Void
    ) async throws {
        let peripheral = Self.peripheral(pairing)
        try await withEmulatedBlueZ(configuration) { bluez in
            try await peripheral.run(on: bluez.backend, logger: .silent) { _ in
                let central = bluez.central(for: peripheral)
                try await central.connect()
                try await body(bluez, central)
            }
        }
    }

    /// Why a central could not pair; `nil` when it could.
    private static func failure(of central: VirtualCentral, _ user: PairingUser) async -> TestCentralError
        .Code?
    {
        do {
            try await central.pair(user)
            return nil
        } catch {
            return (error as? TestCentralError)?.code ?? .failed
        }
    }

    private static func expectRefusal(of central: VirtualCentral, _ user: PairingUser) async throws {
        let code = await failure(of: central, user)
        #expect(code == .pairingFailed)
        await #expect(throws: ATTError.insufficientEncryption) { try await central.read(Self.secret) }
        #expect(try await central.read(Self.open) == 1)
    }

    // MARK: - Ways to pair

    /// A way to pair, with the two persons: what one of them sees reaches the other.
    struct Way: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var make: @Sendable () -> (Pairing, PairingUser)
    }

    static let ways = [
        Way(testDescription: "Just Works") { (.justWorks, .justWorks) },
        Way(testDescription: "the central enters the passkey") {
            let shown = Signal<UInt32>()
            return (
                .displayPasskey { passkey, _ in shown.send(passkey) }, .entering { try? await shown.next() }
            )
        },
        Way(testDescription: "the peripheral is given the passkey") {
            let shown = Signal<UInt32>()
            return (.enterPasskey { _ in try await shown.next() }, .reading { shown.send($0) })
        },
        Way(testDescription: "both compare a number") {
            let shown = Signal<UInt32>()
            return (
                .confirmNumber { number, _ in try await shown.next() == number },
                .confirming { number in
                    shown.send(number)
                    return true
                }
            )
        },
    ]

    @Test(arguments: ways, [BlueZVersion.v5_66, .v5_82, .v5_87])
    func pairedCentralIsServed(way: Way, version: BlueZVersion) async throws {
        let (pairing, user) = way.make()
        try await Self.run(pairing, .init(version: version)) { _, central in
            await #expect(throws: ATTError.insufficientEncryption) { try await central.read(Self.secret) }
            try await central.pair(user)
            #expect(try await central.read(Self.secret) == 42)
            central.disconnect()
            try await central.connect()
            #expect(try await central.read(Self.secret) == 42)
        }
    }

    // MARK: - Refusals

    struct Refusal: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var pairing: Pairing
        var user: PairingUser
    }

    @Test(arguments: [
        Refusal(testDescription: "no agent", pairing: .system, user: .justWorks),
        Refusal(
            testDescription: "the number is another",
            pairing: .confirmNumber { _, _ in false },
            user: .confirming()
        ),
        Refusal(testDescription: "no passkey", pairing: .enterPasskey { _ in nil }, user: .reading { _ in }),
        Refusal(
            testDescription: "the wrong passkey",
            pairing: .enterPasskey { _ in 1_000_000 },
            user: .reading { _ in }
        ),
        Refusal(
            testDescription: "the handler fails",
            pairing: .confirmNumber { _, _ in throw CancellationError() },
            user: .confirming()
        ),
        Refusal(
            testDescription: "a way that is not declared",
            pairing: .confirmNumber { _, _ in true },
            user: .justWorks
        ),
    ])
    func refusedCentralIsNotServed(refusal: Refusal) async throws {
        try await Self.run(refusal.pairing) { _, central in
            try await Self.expectRefusal(of: central, refusal.user)
        }
    }

    @Test(arguments: [
        Refusal(
            testDescription: "a handler that cannot show it",
            pairing: .displayPasskey { _, _ in throw CancellationError() },
            user: .entering { try? await Signal<UInt32>().next() }
        ),
        Refusal(
            testDescription: "a way that is not declared",
            pairing: .confirmNumber { _, _ in true },
            user: .entering { try? await Signal<UInt32>().next() }
        ),
    ])
    func passkeyThatNobodyShowsEndsTheConnection(refusal: Refusal) async throws {
        try await Self.run(refusal.pairing) { _, central in
            let code = await Self.failure(of: central, refusal.user)
            #expect(code == .disconnected)
        }
    }

    // MARK: - Other agents

    /// An agent of another program, which says yes.
    private static func registerAgent(
        on connection: BusConnection,
        asked: Signal<Void>
    ) async throws {
        let authorize = ExportedMethod("RequestAuthorization", "o", "") { _, reply in
            asked.send()
            reply.send()
        }
        let agent = ExportedInterface("org.bluez.Agent1", methods: [authorize])
        try await connection.export(ExportedObject("/other", [agent]))
        for (method, capability) in [("RegisterAgent", "NoInputNoOutput"), ("RequestDefaultAgent", nil)] {
            _ = try await connection.call(
                "org.bluez",
                "/org/bluez",
                "org.bluez.AgentManager1",
                MemberName(method),
                [.objectPath("/other")] + (capability.map { [.string($0)] } ?? [])
            )
        }
    }

    @Test func otherAgentIsNotAskedWhereNobodyMayPair() async throws {
        let peripheral = Peripheral("Closed") { GATTService(.battery) { Self.open } }
        try await withEmulatedBlueZ { bluez in
            try await BusObserver.run(on: bluez) { other in
                let asked = Signal<Void>()
                try await Self.registerAgent(on: other.connection, asked: asked)
                let central = bluez.central(for: peripheral)
                try await peripheral.run(on: bluez.backend, logger: .silent) { _ in
                    try await central.connect()
                    let code = await Self.failure(of: central, .justWorks)
                    #expect(code == .pairingFailed)
                }
            }
        }
    }

    @Test func otherAgentIsAskedWhereTheSystemPairs() async throws {
        try await withEmulatedBlueZ { bluez in
            try await BusObserver.run(on: bluez) { other in
                let asked = Signal<Void>()
                try await Self.registerAgent(on: other.connection, asked: asked)
                let peripheral = Self.peripheral(.system)
                try await peripheral.run(on: bluez.backend, logger: .silent) { _ in
                    let central = bluez.central(for: peripheral)
                    try await central.connect()
                    try await central.pair(.justWorks)
                    try await asked.next()
                    #expect(try await central.read(Self.secret) == 42)
                }
            }
        }
    }

    @Test func devicesOfOtherAdaptersAreRefused() async throws {
        let other = Peripheral("Other", pairing: .system) { GATTService(.heartRate) { Self.secret } }
        try await Self.run(.justWorks, .init(adapters: ["hci0", "hci1"])) { bluez, _ in
            try await other.run(on: bluez.backend(adapter: "hci1"), logger: .silent) { _ in
                let central = bluez.central(for: other, near: "hci1")
                try await central.connect()
                let code = await Self.failure(of: central, .justWorks)
                #expect(code == .pairingFailed)
            }
        }
    }

    // MARK: - Questions that end

    /// A handler that waits until it is cancelled, because its question has ended.
    private struct PatientHandler: Sendable {
        let begun = Signal<Void>()
        let asked = Signal<Void>()
        let ended = Signal<Void>()

        func wait() async throws {
            defer { ended.send() }
            asked.send()
            try await untilCancelled()
        }
    }

    @Test func questionEndsWithTheConnection() async throws {
        let handler = PatientHandler()
        let pairing = Pairing.confirmNumber { _, _ in
            try await handler.wait()
            return true
        }
        try await Self.run(pairing) { _, central in
            async let failure = Self.failure(of: central, .confirming())
            try await handler.asked.next()
            central.disconnect()
            try await handler.ended.next()
            let code = await failure
            #expect(code == .disconnected)
        }
    }

    @Test func questionEndsWithTheRun() async throws {
        let handler = PatientHandler()
        let peripheral = Self.peripheral(
            .enterPasskey { _ in
                try await handler.wait()
                return 0
            }
        )
        // On a clock that stands still, the time limit of the pairing cannot hide that its refusal is lost.
        try await withEmulatedBlueZ(.init(clock: ManualClock())) { bluez in
            let central = bluez.central(for: peripheral)
            async let failure = {
                try? await handler.begun.next()
                return await Self.failure(of: central, .reading { _ in })
            }()
            try await peripheral.run(on: bluez.backend, logger: .silent) { _ in
                try await central.connect()
                handler.begun.send()
                try await handler.asked.next()
            }
            try await handler.ended.next()
            let code = await failure
            #expect(code == .pairingFailed)
        }
    }

    @Test func passkeyIsShownUntilThePairingSucceeds() async throws {
        let shown = Signal<UInt32>()
        let ended = Signal<Void>()
        let pairing = Pairing.displayPasskey { passkey, _ in
            defer { ended.send() }
            shown.send(passkey)
            try await untilCancelled()
        }
        try await Self.run(pairing) { _, central in
            try await central.pair(.entering { try? await shown.next() })
            try await ended.next()
            #expect(try await central.read(Self.secret) == 42)
        }
    }

    @Test func passkeyIsShownUntilTheCentralGoes() async throws {
        let handler = PatientHandler()
        try await Self.run(.displayPasskey { _, _ in try await handler.wait() }) { _, central in
            async let failure = Self.failure(of: central, .entering { try? await Signal<UInt32>().next() })
            try await handler.asked.next()
            central.disconnect()
            try await handler.ended.next()
            let code = await failure
            #expect(code == .disconnected)
        }
    }

    /// bluetoothd does not report the end of a pairing if the central was paired before.
    @Test func passkeyThatIsShownForTooLongDisturbsNobody() async throws {
        let shown = Signal<UInt32>()
        let ended = Signal<Void>()
        let pairing = Pairing.displayPasskey { passkey, _ in
            defer { ended.send() }
            shown.send(passkey)
            try await untilCancelled()
        }
        let peripheral = Self.peripheral(pairing)
        let clock = ManualClock()
        try await withEmulatedBlueZ { bluez in
            try await peripheral.run(on: bluez.backend, logger: .silent, clock: clock) { session in
                let central = bluez.central(for: peripheral)
                try await central.connect()
                try await central.pair(.entering { try? await shown.next() })
                try await ended.next()
                central.forgetBond()
                central.disconnect()
                try await central.connect()
                try await central.pair(.entering { try? await shown.next() })
                await clock.waitForSleeper()
                clock.advance(by: .seconds(30))
                try await ended.next()
                // bluetoothd carries out all earlier calls before it answers this one.
                #expect(try await session.bondedCentrals().count == 1)
                #expect(try await central.read(Self.secret) == 42)
            }
        }
    }

    @Test func handlersLearnWhoPairs() async throws {
        let centrals = Signal<DeviceAddress>()
        let pairing = Pairing.confirmNumber { _, central in
            centrals.send(central.address)
            return true
        }
        try await Self.run(pairing) { _, central in
            try await central.pair(.confirming())
            #expect(try await centrals.next() == central.address)
        }
    }
}
