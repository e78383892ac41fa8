internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting
internal import PeripheralVirtualServer

/// Pairing where the peripheral declares several methods, and the capabilities of the central choose one.
extension ConformanceSuite {
    static let pairingByOneOfSeveral: [Scenario] =
        choices.map(chooses) + [
            justWorksBesideOthersIsRefused, justWorksBesideOthersIsAccepted, justWorksDoesNotReplaceAPasskey,
        ]

    // MARK: The method follows from the central

    /// A central, and the method by which it pairs.
    private struct Choice: Sendable {
        var name: String
        var central: PairingUser.Capability
        var secureConnections = true
        var hasKeyboard: Bool
        var method: PairingMethod

        var level: SecurityLevel { secureConnections ? .secureConnections : .authenticated }
    }

    private static let choices = [
        Choice(
            name: "a central with a display and two keys compares numbers with a display and two keys",
            central: .displayYesNo,
            hasKeyboard: false,
            method: .confirmNumber
        ),
        Choice(
            name: "a central with only a keyboard enters the passkey of a display with two keys",
            central: .keyboardOnly,
            hasKeyboard: false,
            method: .displayPasskey
        ),
        Choice(
            name: "a central with LE legacy pairing enters the passkey of a display with two keys",
            central: .keyboardDisplay,
            secureConnections: false,
            hasKeyboard: false,
            method: .displayPasskey
        ),
        Choice(
            name: "a central with a display and a keyboard compares numbers with a display and a keyboard",
            central: .keyboardDisplay,
            hasKeyboard: true,
            method: .confirmNumber
        ),
        Choice(
            name: "a central with only a keyboard enters the passkey of a display with a keyboard",
            central: .keyboardOnly,
            hasKeyboard: true,
            method: .displayPasskey
        ),
        Choice(
            name: "a central with only a display shows a passkey for a display with a keyboard",
            central: .displayOnly,
            hasKeyboard: true,
            method: .enterPasskey
        ),
        Choice(
            name: "a central with LE legacy pairing shows a passkey for a display with a keyboard",
            central: .keyboardDisplay,
            secureConnections: false,
            hasKeyboard: true,
            method: .enterPasskey
        ),
    ]

    /// The persons at both devices, each of which receives the numbers that the other sees.
    private struct Persons: Sendable {
        /// The methods that the peripheral has been asked about.
        let asked = Recorder<PairingMethod>()
        let shownByPeripheral = Recorder<UInt32>()
        let shownByCentral = Recorder<UInt32>()

        var confirming: Pairing {
            .confirmNumber { number, _ in
                asked.record(.confirmNumber)
                return try await shownByCentral.next() == number
            }
        }

        var displaying: Pairing {
            .displayPasskey { passkey, _ in
                asked.record(.displayPasskey)
                shownByPeripheral.record(passkey)
            }
        }

        var entering: Pairing {
            .enterPasskey { _ in
                asked.record(.enterPasskey)
                return try await shownByCentral.next()
            }
        }

        func user(
            _ capability: PairingUser.Capability,
            secureConnections: Bool = true
        ) -> PairingUser {
            PairingUser(
                capability: capability,
                requiresAuthentication: true,
                secureConnections: secureConnections,
                display: { shownByCentral.record($0) },
                enterPasskey: { try? await shownByPeripheral.next() },
                confirm: { number in
                    shownByCentral.record(number)
                    return true
                }
            )
        }
    }

    /// Characteristics that require the three levels of security above `SecurityLevel.open`.
    private struct Secrets: Sendable {
        let encrypted = Secrets.characteristic(ScenarioUUID.value, .encrypted)
        let authenticated = Secrets.characteristic(ScenarioUUID.otherValue, .authenticated)
        let secure = Secrets.characteristic(ScenarioUUID.thirdValue, .secureConnections)

        private static func characteristic(
            _ uuid: BluetoothUUID,
            _ level: SecurityLevel
        ) -> Characteristic<UInt8> {
            Characteristic<UInt8>(uuid, .read, security: AttributeSecurity(level)) { Read { 7 } }
        }

        func peripheral(_ pairing: Pairing) -> Peripheral {
            Peripheral("Choice", pairing: pairing) {
                GATTService(ScenarioUUID.service) {
                    encrypted; authenticated; secure
                }
            }
        }

        /// Reads all values, and expects those of higher levels to be refused.
        func expectAccess(of central: any TestCentral, at level: SecurityLevel) async throws {
            for (secret, required) in [
                (encrypted, SecurityLevel.encrypted), (authenticated, .authenticated),
                (secure, .secureConnections),
            ] {
                if required <= level {
                    try await expect("value", central.read(secret), is: 7)
                } else {
                    try await expectRefusal(of: "read", by: refusal(of: required)) {
                        try await central.read(secret)
                    }
                }
            }
        }
    }

    private static func chooses(_ choice: Choice) -> Scenario {
        Scenario(choice.name) {
            let persons = Persons()
            let secrets = Secrets()
            let pairing =
                choice.hasKeyboard
                ? Pairing.any(of: persons.entering, persons.displaying, persons.confirming)
                : Pairing.any(of: persons.displaying, persons.confirming)
            return ScenarioRun(secrets.peripheral(pairing)) { central, _ in
                try await secrets.expectAccess(of: central, at: .open)
                try await central.pair(
                    persons.user(choice.central, secureConnections: choice.secureConnections)
                )
                try expect("methods", persons.asked.count, is: 1)
                try await expect("method", persons.asked.next(), is: choice.method)
                try await secrets.expectAccess(of: central, at: choice.level)
                try await central.disconnect()
                try await central.connect()
                try await secrets.expectAccess(of: central, at: choice.level)
            }
        }
    }

    // MARK: Just Works beside other methods

    static let justWorksBesideOthersIsRefused = Scenario(
        "Just Works is refused where several other methods are declared, and these still work"
    ) {
        let persons = Persons()
        let secrets = Secrets()
        let pairing = Pairing.any(of: persons.displaying, persons.confirming, persons.entering)
        return ScenarioRun(secrets.peripheral(pairing)) { central, _ in
            var careless = persons.user(.keyboardDisplay)
            careless.requiresAuthentication = false
            for user in [.justWorks, careless] {
                try await expectFailure(of: central, pairingAs: user)
                try await secrets.expectAccess(of: central, at: .open)
            }
            try expect("questions to the program", persons.asked.count, is: 0)
            try await central.pair(persons.user(.keyboardDisplay))
            try await secrets.expectAccess(of: central, at: .secureConnections)
        }
    }

    static let justWorksBesideOthersIsAccepted = Scenario(
        "Just Works is accepted where it is declared beside others, and opens no authenticated value"
    ) {
        let persons = Persons()
        let secrets = Secrets()
        let pairing = Pairing.any(of: persons.confirming, persons.displaying, .justWorks)
        return ScenarioRun(secrets.peripheral(pairing)) { central, session in
            try await central.pair(.justWorks)
            try await secrets.expectAccess(of: central, at: .encrypted)
            try expect("questions to the program", persons.asked.count, is: 0)
            try await forgetTheOnlyBond(in: session)
            try await central.disconnect()
            try await central.connect()
            try await central.pair(persons.user(.displayYesNo))
            try await secrets.expectAccess(of: central, at: .secureConnections)
            try await expect("method", persons.asked.next(), is: .confirmNumber)
        }
    }

    static let justWorksDoesNotReplaceAPasskey = Scenario(
        "Just Works beside a passkey does not replace a bond that the passkey has made"
    ) {
        let persons = Persons()
        let secrets = Secrets()
        let pairing = Pairing.any(of: persons.displaying, .justWorks)
        return ScenarioRun(secrets.peripheral(pairing)) { central, session in
            try await central.pair(persons.user(.keyboardOnly))
            try await secrets.expectAccess(of: central, at: .secureConnections)
            try await central.forgetBond()
            try await central.disconnect()
            try await central.connect()
            try await expectFailure(of: central, pairingAs: .justWorks)
            try await secrets.expectAccess(of: central, at: .open)
            try await central.disconnect()
            try await central.recallBond()
            try await central.connect()
            try await secrets.expectAccess(of: central, at: .secureConnections)
            try expect("bonds", try await session.bondedCentrals().count, is: 1)
        }
    }
}
