import PeripheralBlueZ
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// A run that serves centrals with different capabilities, each by the method that suits it.
@Suite(.timeLimit(.minutes(1)))
struct PairingByOneOfSeveralTests {
    private static let secret = Characteristic<UInt8>(0x2A19, .read, security: .authenticated) { Read { 42 } }

    private static func run(
        _ pairing: Pairing,
        _ configuration: EmulatedBlueZ.Configuration = .init(),
        _ body: @escaping @Sendable (EmulatedBlueZ, Peripheral) async throws -> Void
    ) async throws {
        let peripheral = Peripheral("Lock", pairing: pairing) { GATTService(.battery) { secret } }
        try await withEmulatedBlueZ(configuration) { bluez in
            try await peripheral.run(on: bluez.backend, logger: .silent) { _ in
                try await body(bluez, peripheral)
            }
        }
    }

    /// The persons at both devices, and the methods that the program is asked about.
    private struct Persons: Sendable {
        let asked = Signal<String>()
        let shownHere = Signal<UInt32>()
        let shownThere = Signal<UInt32>()

        var pairing: Pairing {
            .any(
                of: .confirmNumber { number, _ in
                    asked.send("confirm")
                    return try await shownThere.next() == number
                },
                .displayPasskey { passkey, _ in
                    asked.send("display")
                    shownHere.send(passkey)
                },
                .enterPasskey { _ in
                    asked.send("enter")
                    return try await shownThere.next()
                }
            )
        }

        func user(_ capability: PairingUser.Capability, secureConnections: Bool = true) -> PairingUser {
            PairingUser(
                capability: capability,
                requiresAuthentication: true,
                secureConnections: secureConnections,
                display: { shownThere.send($0) },
                enterPasskey: { try? await shownHere.next() },
                confirm: { number in
                    shownThere.send(number)
                    return true
                }
            )
        }
    }

    @Test(arguments: [BlueZVersion.v5_66, .v5_82, .v5_87])
    func eachCentralPairsByTheMethodThatSuitsIt(version: BlueZVersion) async throws {
        let persons = Persons()
        let expected: [(PairingUser, String)] = [
            (persons.user(.displayYesNo), "confirm"), (persons.user(.keyboardOnly), "display"),
            (persons.user(.displayOnly), "enter"), (persons.user(.keyboardDisplay), "confirm"),
            (persons.user(.keyboardDisplay, secureConnections: false), "enter"),
        ]
        try await Self.run(persons.pairing, .init(version: version)) { bluez, peripheral in
            for (user, method) in expected {
                let central = bluez.central(for: peripheral)
                try await central.connect()
                try await central.pair(user)
                #expect(try await persons.asked.next() == method)
                #expect(try await central.read(Self.secret) == 42)
                central.disconnect()
            }
        }
    }

    @Test func aCentralWithoutInputAndOutputIsRefused() async throws {
        let persons = Persons()
        try await Self.run(persons.pairing) { bluez, peripheral in
            let central = bluez.central(for: peripheral)
            try await central.connect()
            var demanding = PairingUser.justWorks
            demanding.requiresAuthentication = true
            for user in [.justWorks, demanding] {
                let error = await #expect(throws: TestCentralError.self) { try await central.pair(user) }
                #expect(error?.code == .pairingFailed)
            }
            await #expect(throws: ATTError.insufficientAuthentication) {
                try await central.read(Self.secret)
            }
        }
    }

    @Test func passkeyIsShownUntilThePairingSucceeds() async throws {
        let shown = Signal<UInt32>()
        let ended = Signal<Void>()
        let pairing = Pairing.any(
            of: .confirmNumber { _, _ in false },
            .displayPasskey { passkey, _ in
                defer { ended.send() }
                shown.send(passkey)
                try await untilCancelled()
            }
        )
        try await Self.run(pairing) { bluez, peripheral in
            let central = bluez.central(for: peripheral)
            try await central.connect()
            try await central.pair(.entering { try? await shown.next() })
            try await ended.next()
            #expect(try await central.read(Self.secret) == 42)
        }
    }
}
